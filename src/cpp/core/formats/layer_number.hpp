// Which block of a model an operator is in, as its name tells: 3 of "model.layers.3/Add".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fastdump {

struct LayerNumber {
  std::int64_t number = 0;
  std::size_t begin = 0;  // of its digits in the name
  std::size_t end = 0;
};

// The first number that follows a word for a repeated block (layer, block, h, stage, cell, encoder,
// decoder) with which a part of the name begins. Numbers without such a word are not taken:
// compilers number operators of one type ("MatMul_17"). Empty if there is none.
std::optional<LayerNumber> find_layer_number(std::string_view op_name);

}  // namespace fastdump
