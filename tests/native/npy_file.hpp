// .npy files for the native tests, with any text as their header.
#pragma once

#include <string>
#include <string_view>

#include "standard_file.hpp"

namespace fastdump::tests {

// All of a file before its elements.
inline std::string npy_header(std::string_view text, unsigned major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += little_endian(major, 1) + little_endian(0, 1);
  return bytes + little_endian(text.size(), major == 1 ? 2 : 4) + std::string(text);
}

// As numpy writes it, but for the blanks that align the elements.
inline std::string npy_text(std::string_view type, std::string_view shape,
                            std::string_view fortran_order = "False") {
  return "{'descr': '" + std::string(type) + "', 'fortran_order': " + std::string(fortran_order) +
         ", 'shape': " + std::string(shape) + ", }\n";
}

}  // namespace fastdump::tests
