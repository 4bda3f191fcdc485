// The number of the block that an operator's name tells.

#include <optional>
#include <string>
#include <string_view>

#include "check.hpp"
#include "core/formats/layer_number.hpp"

namespace fastdump {
namespace {

// "3" with the place of its digits marked, "none" if there is none.
std::string layer(std::string_view name) {
  const std::optional<LayerNumber> found = find_layer_number(name);
  if (!found) return "none";
  const std::string text(name);
  return std::to_string(found->number) + " in " + text.substr(0, found->begin) + "<" +
         text.substr(found->begin, found->end - found->begin) + ">" + text.substr(found->end);
}

void test_names_with_a_layer() {
  CHECK_EQ(layer("model.layers.3/Add"), "3 in model.layers.<3>/Add");
  CHECK_EQ(layer("model_layers_12_self_attn_MatMul"), "12 in model_layers_<12>_self_attn_MatMul");
  CHECK_EQ(layer("layer0"), "0 in layer<0>");
  CHECK_EQ(layer("bert/encoder/layer_07/Add"), "7 in bert/encoder/layer_<07>/Add");
  CHECK_EQ(layer("transformer.h.5.attn"), "5 in transformer.h.<5>.attn");
  CHECK_EQ(layer("backbone blocks 2 norm"), "2 in backbone blocks <2> norm");
  CHECK_EQ(layer("a\\stage-4\\b"), "4 in a\\stage-<4>\\b");
  CHECK_EQ(layer("decoder3/x"), "3 in decoder<3>/x");
  CHECK_EQ(layer("cells.1.cell.2"), "1 in cells.<1>.cell.2");
  // The first word that a number follows.
  CHECK_EQ(layer("encoder.layers.6.block.1"), "6 in encoder.layers.<6>.block.1");
  CHECK_EQ(layer("layers.x.blocks.9"), "9 in layers.x.blocks.<9>");
}

void test_names_without_one() {
  CHECK_EQ(layer(""), "none");
  CHECK_EQ(layer("MatMul_17"), "none");
  CHECK_EQ(layer("model.norm.3"), "none");
  CHECK_EQ(layer("player.3"), "none");
  CHECK_EQ(layer("layers"), "none");
  CHECK_EQ(layer("layers."), "none");
  CHECK_EQ(layer("layers..3"), "none");
  CHECK_EQ(layer("Layers.3"), "none");
  CHECK_EQ(layer("layernorm3"), "none");
  CHECK_EQ(layer("hh3"), "none");
  CHECK_EQ(layer("layers.1234567890"), "none");
  CHECK_EQ(layer("layers.123456789"), "123456789 in layers.<123456789>");
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_names_with_a_layer();
  fastdump::test_names_without_one();
  return fastdump::tests::exit_code();
}
