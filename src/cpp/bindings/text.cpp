#include <stdexcept>

#include "bindings/bindings.hpp"

namespace fastdump::bindings {

py::str to_text(std::string_view bytes) {
  PyObject* text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()),
                                        "backslashreplace");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

std::vector<std::string> to_paths(const std::vector<py::bytes>& paths) {
  std::vector<std::string> converted;
  for (const py::bytes& path : paths) {
    converted.emplace_back(path);
    if (converted.back().find('\0') != std::string::npos) {
      throw std::invalid_argument("a path contains a null byte");
    }
  }
  return converted;
}

}  // namespace fastdump::bindings
