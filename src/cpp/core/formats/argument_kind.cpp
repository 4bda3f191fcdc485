#include "core/formats/argument_kind.hpp"

namespace fastdump {

std::string_view argument_kind(std::uint32_t input_type) {
  switch (input_type) {
    case 1:
      return "general";
    case 2:
      return "input";
    case 3:
      return "output";
    case 4:
      return "workspace";
    case 5:
      return "kernel log";
    case 6:
      return "communication context";
    case 7:
      return "tiling data";
    case 8:
      return "L1";
    case 9:
      return "L2";
    case 10:
      return "overflow address";
    case 11:
      return "FFTS address";
    case 12:
      return "shape tensor";
    case 101:
      return "arguments";
    case 102:
      return "stack";
    case 103:
      return "device kernel object";
    case 104:
      return "SIMT stack";
    default:
      return {};
  }
}

}  // namespace fastdump
