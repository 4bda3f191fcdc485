#include "core/scan/logical_elements.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/tensor_format.hpp"

namespace fastdump {

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
  const std::uint64_t n_elements = layout->n_elements();
  if (layout->n_stored() > tensor.n_elements) {
    why = "only " + std::to_string(tensor.n_elements) + " of " +
          std::to_string(layout->n_stored()) + " elements are there";
    return nullptr;
  }
  const auto bits = static_cast<std::uint64_t>(kernels::element_bits(tensor.dtype->element));
  const std::uint64_t elements_in_unit = bits < 8 ? 8 / bits : 1;
  if (!layout->is_identity()) {
    layout = layout->in_units_of(elements_in_unit);
    if (!layout) {
      why = "elements of " + std::to_string(bits) + " bits do not lie in order by the byte";
      return nullptr;
    }
  }
  return std::make_unique<const LogicalElements>(
      LogicalElements{*std::move(layout), n_elements, elements_in_unit,
                      static_cast<std::size_t>(elements_in_unit * bits / 8)});
}

void note_padding(TensorDescription& tensor, const std::string& why) {
  if (!tensor.note.empty()) tensor.note += "; ";
  tensor.note += "padding included: " + why;
}

}  // namespace fastdump
