#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/contiguous_buffer.hpp"
#include "bindings/one_run.hpp"
#include "bindings/py_table.hpp"
#include "bindings/without_gil.hpp"
#include "core/arrays/compare_array.hpp"
#include "core/compare/comparison.hpp"
#include "core/compare/comparison_table.hpp"
#include "core/compare/metrics.hpp"
#include "core/layout/host_layout.hpp"
#include "core/size.hpp"

namespace fastdump::bindings {
namespace {

using kernels::Tolerance;

Tolerance check_tolerance(double rtol, double atol) {
  for (const auto& [name, value] : {std::pair("rtol", rtol), std::pair("atol", atol)}) {
    if (std::isfinite(value) && value >= 0) continue;
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) +
                                "; it must be finite and not negative");
  }
  return {rtol, atol};
}

// Path, state, offset, dtype, number of stored elements; and how they become a host array, or None.
using PlaceTuple = std::tuple<py::bytes, std::int64_t, std::uint64_t, std::string, std::uint64_t,
                              const HostLayout*>;

TensorPlace to_place(const PlaceTuple& tuple) {
  const auto& [path, state, offset, dtype, n_elements, layout] = tuple;
  TensorPlace place = {check_path(path), static_cast<FileState>(state),
                       offset,           find_data_type(std::string_view(dtype)),
                       n_elements,       nullptr};
  if (layout != nullptr) place.layout = std::make_shared<const HostLayout>(*layout);
  return place;
}

std::span<const std::int64_t> to_integers(const ContiguousBuffer& buffer, const char* name) {
  if (!buffer.holds<std::int64_t>()) {
    throw std::invalid_argument(std::string(name) + " are contiguous 64-bit integers");
  }
  // SAFETY: the buffer holds aligned numbers of this type.
  return {reinterpret_cast<const std::int64_t*>(buffer.data()),
          buffer.nbytes() / sizeof(std::int64_t)};
}

// Many places, by columns: a Python object for each would take longer than comparing them.
class TensorPlaces {
 public:
  // The path of a place is `root` and what `texts` have up to its end, which begins where the one
  // before ends; or the latter alone if it is absolute.
  TensorPlaces(const py::bytes& root, const py::object& texts, const py::object& ends,
               const py::object& states, const py::object& offsets, const py::object& dtypes,
               const std::vector<std::string>& dtype_names, const py::object& n_elements,
               const std::map<std::size_t, const HostLayout*>& layouts) {
    const std::string prefix = check_path(root);
    const ContiguousBuffer buffers[] = {ContiguousBuffer(texts),  ContiguousBuffer(ends),
                                        ContiguousBuffer(states), ContiguousBuffer(offsets),
                                        ContiguousBuffer(dtypes), ContiguousBuffer(n_elements)};
    const std::string_view text(reinterpret_cast<const char*>(buffers[0].data()),
                                buffers[0].nbytes());
    const auto end_of = to_integers(buffers[1], "ends");
    const auto state_of = to_integers(buffers[2], "states");
    const auto offset_of = to_integers(buffers[3], "offsets");
    const auto dtype_of = to_integers(buffers[4], "dtypes");
    const auto n_of = to_integers(buffers[5], "n_elements");
    const std::size_t n = end_of.size();
    if (state_of.size() != n || offset_of.size() != n || dtype_of.size() != n || n_of.size() != n) {
      throw std::invalid_argument("columns of places have different lengths");
    }
    std::vector<const DataType*> types;
    for (const std::string& name : dtype_names) {
      types.push_back(find_data_type(std::string_view(name)));
    }
    places_.resize(n);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto end = static_cast<std::size_t>(end_of[i]);
      if (end < begin || end > text.size()) throw std::out_of_range("a path ends outside its text");
      const auto dtype = static_cast<std::size_t>(dtype_of[i]);
      if (dtype >= types.size()) throw std::out_of_range("there is no such dtype");
      const std::string_view path = text.substr(begin, end - begin);
      if (path.find('\0') != std::string_view::npos) {
        throw std::invalid_argument("a path contains a null byte");
      }
      TensorPlace& place = places_[i];
      if (!path.starts_with('/')) place.path = prefix;
      place.path += path;
      place.state = static_cast<FileState>(state_of[i]);
      place.offset = static_cast<std::uint64_t>(offset_of[i]);
      place.dtype = types[dtype];
      place.n_elements = static_cast<std::uint64_t>(n_of[i]);
      begin = end;
    }
    for (const auto& [i, layout] : layouts) {
      places_.at(i).layout = std::make_shared<const HostLayout>(*layout);
    }
  }

  std::vector<TensorPlace> take() { return std::move(places_); }

 private:
  std::vector<TensorPlace> places_;
};

class PyComparison {
 public:
  PyComparison(TensorPlaces& a, TensorPlaces& b, double rtol, double atol, bool kl, int threads,
               std::optional<int> io_depth, const std::string& engine)
      : run_("the comparison",
             new_comparison(a.take(), b.take(), rtol, atol, kl, threads, io_depth, engine)) {}

  PyComparison(const std::vector<PlaceTuple>& a, const std::vector<PlaceTuple>& b, double rtol,
               double atol, bool kl, int threads, std::optional<int> io_depth,
               const std::string& engine)
      : run_("the comparison", new_comparison(a, b, rtol, atol, kl, threads, io_depth, engine)) {}

  void run(const py::object& on_progress, double interval_s) { run_.run(on_progress, interval_s); }

  ComparisonProgress progress() const { return run_.progress(); }

  PyTable table() {
    const Comparison& comparison = run_.ended();
    // GIL: the results of a comparison that has ended are C++ objects that nobody changes.
    const WithoutGil released;
    return PyTable(make_table(comparison.results()));
  }

 private:
  static std::unique_ptr<Comparison> new_comparison(const std::vector<PlaceTuple>& a,
                                                    const std::vector<PlaceTuple>& b, double rtol,
                                                    double atol, bool kl, int threads,
                                                    std::optional<int> io_depth,
                                                    const std::string& engine) {
    std::vector<TensorPlace> places_a;
    std::vector<TensorPlace> places_b;
    places_a.reserve(a.size());
    places_b.reserve(b.size());
    for (const PlaceTuple& place : a) places_a.push_back(to_place(place));
    for (const PlaceTuple& place : b) places_b.push_back(to_place(place));
    return new_comparison(std::move(places_a), std::move(places_b), rtol, atol, kl, threads,
                          io_depth, engine);
  }

  static std::unique_ptr<Comparison> new_comparison(std::vector<TensorPlace> a,
                                                    std::vector<TensorPlace> b, double rtol,
                                                    double atol, bool kl, int threads,
                                                    std::optional<int> io_depth,
                                                    const std::string& engine) {
    if (a.size() != b.size()) {
      throw std::invalid_argument(std::to_string(a.size()) + " tensors cannot be compared with " +
                                  std::to_string(b.size()));
    }
    ComparisonOptions options;
    options.tolerance = check_tolerance(rtol, atol);
    options.divergence = kl;
    options.parallelism = parse_parallelism(threads, io_depth);
    options.engine = parse_engine(engine);
    std::vector<TensorPair> pairs;
    pairs.reserve(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      pairs.push_back({std::move(a[i]), std::move(b[i])});
    }
    return std::make_unique<Comparison>(std::move(pairs), options);
  }

  OneRun<Comparison> run_;
};

py::dict compare_buffers(const py::object& a, const std::string& dtype_a, const py::object& b,
                         const std::string& dtype_b, std::size_t n_elements, double rtol,
                         double atol, bool kl, int threads) {
  const DataType& type_a = reducible_type(dtype_a);
  const DataType& type_b = reducible_type(dtype_b);
  const ContiguousBuffer buffer_a(a);
  const ContiguousBuffer buffer_b(b);
  buffer_a.check_nbytes("a", packed_nbytes(n_elements, type_a.bits));
  buffer_b.check_nbytes("b", packed_nbytes(n_elements, type_b.bits));
  const Tolerance tolerance = check_tolerance(rtol, atol);
  check_threads(threads);
  ArrayComparison result;
  {
    // GIL: both buffers keep their memory.
    const WithoutGil released;
    result = compare_array({type_a.element, type_b.element, buffer_a.data(), buffer_b.data()},
                           n_elements, tolerance, kl, threads);
  }
  py::dict dict;
  for_each_metric(result.statistics, result.divergence,
                  [&](const char* name, const auto& value) { dict[name] = value; });
  return dict;
}

}  // namespace

void bind_compare(py::module_& module) {
  py::class_<ComparisonProgress>(module, "ComparisonProgress")
      .def_readonly("pairs", &ComparisonProgress::pairs)
      .def_readonly("pairs_done", &ComparisonProgress::pairs_done)
      .def_readonly("bytes_done", &ComparisonProgress::bytes_done);
  py::class_<TensorPlaces>(module, "TensorPlaces")
      .def(py::init<const py::bytes&, const py::object&, const py::object&, const py::object&,
                    const py::object&, const py::object&, const std::vector<std::string>&,
                    const py::object&, const std::map<std::size_t, const HostLayout*>&>(),
           py::kw_only(), py::arg("root"), py::arg("texts"), py::arg("ends"), py::arg("states"),
           py::arg("offsets"), py::arg("dtypes"), py::arg("dtype_names"), py::arg("n_elements"),
           py::arg("layouts"));
  py::class_<PyComparison>(module, "Comparison")
      .def(py::init<TensorPlaces&, TensorPlaces&, double, double, bool, int, std::optional<int>,
                    const std::string&>(),
           py::arg("a"), py::arg("b"), py::kw_only(), py::arg("rtol"), py::arg("atol"),
           py::arg("kl"), py::arg("threads"), py::arg("io_depth") = py::none(), py::arg("engine"))
      .def(py::init<const std::vector<PlaceTuple>&, const std::vector<PlaceTuple>&, double, double,
                    bool, int, std::optional<int>, const std::string&>(),
           py::arg("a"), py::arg("b"), py::kw_only(), py::arg("rtol"), py::arg("atol"),
           py::arg("kl"), py::arg("threads"), py::arg("io_depth") = py::none(), py::arg("engine"))
      .def("run", &PyComparison::run, py::arg("on_progress"), py::arg("interval_s"))
      .def("progress", &PyComparison::progress)
      .def("table", &PyComparison::table);
  module.def("compare_buffers", &compare_buffers, py::arg("a"), py::arg("dtype_a"), py::arg("b"),
             py::arg("dtype_b"), py::arg("n_elements"), py::kw_only(), py::arg("rtol"),
             py::arg("atol"), py::arg("kl"), py::arg("threads"),
             "Metrics of packed elements in two contiguous buffers.");
}

}  // namespace fastdump::bindings
