#include "core/layout/logical_elements.hpp"

#include <utility>

namespace fastdump {

std::optional<LogicalElements> make_logical_elements(HostLayout layout, int bits,
                                                     std::string& why) {
  const std::uint64_t n_elements = layout.n_elements();
  const auto width = static_cast<std::uint64_t>(bits);
  const std::uint64_t elements_in_unit = width < 8 ? 8 / width : 1;
  if (!layout.is_identity()) {
    auto units = layout.in_units_of(elements_in_unit);
    if (!units) {
      why = "elements of " + std::to_string(bits) + " bits do not lie in order by the byte";
      return std::nullopt;
    }
    layout = *std::move(units);
  }
  return LogicalElements{std::move(layout), n_elements, elements_in_unit,
                         static_cast<std::size_t>(elements_in_unit * width / 8)};
}

}  // namespace fastdump
