#include "core/scan/logical_elements.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/tensor_format.hpp"

namespace fastdump {

std::optional<LogicalElements> make_logical_elements(HostLayout layout, kernels::Element element,
                                                     std::string& why) {
  const std::uint64_t n_elements = layout.n_elements();
  const auto bits = static_cast<std::uint64_t>(kernels::element_bits(element));
  const std::uint64_t elements_in_unit = bits < 8 ? 8 / bits : 1;
  if (!layout.is_identity()) {
    auto units = layout.in_units_of(elements_in_unit);
    if (!units) {
      why = "elements of " + std::to_string(bits) + " bits do not lie in order by the byte";
      return std::nullopt;
    }
    layout = *std::move(units);
  }
  return LogicalElements{std::move(layout), n_elements, elements_in_unit,
                         static_cast<std::size_t>(elements_in_unit * bits / 8)};
}

std::unique_ptr<const LogicalElements> find_logical_elements(const TensorDescription& tensor,
                                                             std::string& why) {
  if (!is_private_format(tensor.format)) return nullptr;
  std::optional<HostLayout> layout;
  try {
    layout.emplace(
        StoredTensor{tensor.format, tensor.shape, tensor.origin_shape, tensor.sub_format},
        std::string_view{}, tensor_format_name(tensor.original_format));
  } catch (const LayoutError& error) {
    why = error.what();
    return nullptr;
  }
  if (layout->n_stored() > tensor.n_elements) {
    why = "only " + std::to_string(tensor.n_elements) + " of " +
          std::to_string(layout->n_stored()) + " elements are there";
    return nullptr;
  }
  auto logical = make_logical_elements(*std::move(layout), tensor.dtype->element, why);
  if (!logical) return nullptr;
  return std::make_unique<const LogicalElements>(*std::move(logical));
}

void note_padding(TensorDescription& tensor, const std::string& why) {
  tensor.note.add("padding included: " + why);
}

}  // namespace fastdump
