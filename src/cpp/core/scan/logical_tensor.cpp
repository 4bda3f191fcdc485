#include "core/scan/logical_tensor.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/tensor_format.hpp"

namespace fastdump {

std::shared_ptr<const LogicalElements> find_logical_elements(const TensorDescription& tensor,
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
  auto logical = make_logical_elements(*std::move(layout), tensor.dtype->bits, why);
  if (!logical) return nullptr;
  return std::make_shared<const LogicalElements>(*std::move(logical));
}

void note_padding(TensorDescription& tensor, const std::string& why) {
  tensor.note.add("padding included: " + why);
}

}  // namespace fastdump
