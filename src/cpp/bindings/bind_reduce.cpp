#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/without_gil.hpp"
#include "core/arrays/reduce_array.hpp"
#include "core/arrays/reduce_file.hpp"
#include "core/concurrency/cpus.hpp"
#include "core/dtype.hpp"
#include "core/size.hpp"

namespace fastdump::bindings {
namespace {

using kernels::Level;
using kernels::Number;
using kernels::NumberKind;
using kernels::Statistics;

py::object to_python(Number number, NumberKind kind) {
  switch (kind) {
    case NumberKind::i64:
      return py::int_(number.i64);
    case NumberKind::u64:
      return py::int_(number.u64);
    case NumberKind::f64:
      break;
  }
  return py::float_(number.f64);
}

py::dict to_dict(const Statistics& statistics, kernels::Element element, Level level) {
  const NumberKind kind = kernels::number_kind(element);
  const bool moments = level != Level::health;
  const bool extremes = moments && statistics.finite != 0;
  const py::object none = py::none();
  py::dict dict;
  dict["count"] = statistics.count;
  dict["max"] = extremes ? to_python(statistics.max, kind) : none;
  dict["min"] = extremes ? to_python(statistics.min, kind) : none;
  dict["mean"] = extremes ? py::float_(statistics.mean) : none;
  dict["l2norm"] = moments ? py::float_(statistics.l2norm) : none;
  dict["nan"] = statistics.nan;
  dict["pos_inf"] = statistics.pos_inf;
  dict["neg_inf"] = statistics.neg_inf;
  if (level != Level::full) return dict;
  dict["zero"] = statistics.zero;
  dict["subnormal"] = statistics.subnormal;
  dict["saturated"] = statistics.saturated;
  dict["min_abs"] = statistics.has_nonzero() ? py::float_(statistics.min_abs) : none;
  dict["first_bad"] = statistics.first_bad < 0 ? none : py::int_(statistics.first_bad);
  return dict;
}

}  // namespace

const DataType& reducible_type(const std::string& dtype) {
  const DataType* type = find_data_type(std::string_view(dtype));
  if (type == nullptr || type->element == kernels::Element::none) {
    throw std::invalid_argument("dtype \"" + dtype + "\" has no documented encoding");
  }
  return *type;
}

namespace {

py::dict reduce_buffer(const py::object& data, const std::string& dtype, std::size_t n_elements,
                       const std::string& level_name, int threads) {
  const DataType& type = reducible_type(dtype);
  const ContiguousBuffer buffer(data);
  buffer.check_nbytes("data", packed_nbytes(n_elements, type.bits));
  const Level level = parse_level(level_name);
  check_threads(threads);
  Statistics statistics;
  {
    // GIL: `buffer` keeps the memory.
    const WithoutGil released;
    statistics = reduce_array(type.element, level, buffer.data(), n_elements, threads);
  }
  return to_dict(statistics, type.element, level);
}

py::dict reduce_file_elements(const py::bytes& path, std::int64_t state, std::uint64_t offset,
                              const std::string& dtype, std::uint64_t n_elements,
                              const std::string& level_name, int threads) {
  const std::string name = path;
  const kernels::Element element = reducible_type(dtype).element;
  const Level level = parse_level(level_name);
  check_threads(threads);
  std::optional<Statistics> statistics;
  {
    // GIL: only C++ objects are touched.
    WithoutGil released;
    // This thread alone asks.
    const auto no_signal = [&released] {
      bool has_none = true;
      released.with_gil([&] { has_none = PyErr_CheckSignals() == 0; });
      return has_none;
    };
    statistics = reduce_file(name, static_cast<FileState>(state), element, offset, n_elements,
                             level, Engine::automatic, threads, no_signal);
  }
  if (!statistics) throw py::error_already_set();
  return to_dict(*statistics, element, level);
}

}  // namespace

Level parse_level(const std::string& text) {
  if (text == "health") return Level::health;
  if (text == "basic") return Level::basic;
  if (text == "full") return Level::full;
  throw std::invalid_argument("level is \"" + text + "\"; it must be health, basic or full");
}

int check_threads(int threads) {
  if (threads >= 1 && threads <= kMaxThreads) return threads;
  throw std::invalid_argument("threads is " + std::to_string(threads) + "; it must be from 1 to " +
                              std::to_string(kMaxThreads));
}

void bind_reduce(py::module_& module) {
  module.def("reduce_buffer", &reduce_buffer, py::arg("data"), py::arg("dtype"),
             py::arg("n_elements"), py::arg("level"), py::arg("threads"),
             "Statistics of packed elements in a contiguous buffer.");
  module.def("reduce_file", &reduce_file_elements, py::arg("path"), py::arg("state"),
             py::arg("offset"), py::arg("dtype"), py::arg("n_elements"), py::arg("level"),
             py::arg("threads"), "Statistics of packed elements in a file.");
}

}  // namespace fastdump::bindings
