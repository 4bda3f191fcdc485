#include <string_view>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/active_tier.hpp"
#include "core/concurrency/cpus.hpp"
#include "core/concurrency/thread_start.hpp"
#include "core/dtype.hpp"
#include "core/formats/tensor_format.hpp"
#include "kernels/tiers.hpp"

namespace fastdump::bindings {
namespace {

using DataTypeTuple = std::tuple<int, std::string_view, std::string_view, int, bool>;

std::vector<DataTypeTuple> list_data_types() {
  std::vector<DataTypeTuple> list;
  for (const DataType& type : data_types()) {
    list.emplace_back(type.number, type.cann_name, type.name, type.bits,
                      type.element != kernels::Element::none);
  }
  return list;
}

std::vector<std::tuple<std::string_view, bool, bool>> list_simd_tiers() {
  std::vector<std::tuple<std::string_view, bool, bool>> list;
  const kernels::Tier& active = active_tier();
  for (const auto& choice : kernels::compiled_tiers()) {
    list.emplace_back(choice.tier->name, choice.usable, choice.tier == &active);
  }
  return list;
}

}  // namespace

void bind_info(py::module_& module) {
  module.def("data_types", &list_data_types,
             "(number, CANN name, dtype name, bits, reducible) of every known data type.");
  module.def(
      "tensor_formats",
      [] {
        const auto formats = tensor_formats();
        return std::vector<std::string_view>(formats.begin(), formats.end());
      },
      "Names of tensor formats, by number.");
  module.def("simd_tiers", &list_simd_tiers,
             "(name, usable, active) of every compiled tier, best first.");
  module.def("default_threads", &default_threads,
             "FASTDUMP_THREADS, or the number of CPUs that this process may use.");
  module.def("has_room_for_thread", &has_room_for_thread,
             "Whether a limit on the address space, if there is one, leaves room for a thread.");
}

}  // namespace fastdump::bindings
