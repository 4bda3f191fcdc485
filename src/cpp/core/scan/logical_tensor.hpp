// Which elements of a described tensor are logical.
#pragma once

#include <memory>
#include <string>

#include "core/formats/description.hpp"
#include "core/layout/logical_elements.hpp"

namespace fastdump {

// nullptr where all stored elements are logical; or where they cannot be told apart, and `why` says
// why. The tensor is reducible.
std::shared_ptr<const LogicalElements> find_logical_elements(const TensorDescription& tensor,
                                                             std::string& why);

// Notes that the statistics of a tensor are those of all that is stored, and why.
void note_padding(TensorDescription& tensor, const std::string& why);

}  // namespace fastdump
