#include "core/errors.hpp"

#include <system_error>

namespace fastdump {

SystemError::SystemError(int error_number, const std::string& path)
    : std::runtime_error((path.empty() ? "" : path + ": ") +
                         std::system_category().message(error_number)),
      error_number_(error_number),
      path_(path) {}

}  // namespace fastdump
