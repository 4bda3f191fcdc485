// The state of a file as its header's reader would have found it, asked behind the back of whatever
// System a test has put in place.
#pragma once

#include <string>

#include "core/io/file_state.hpp"
#include "core/io/system.hpp"

namespace fastdump::tests {

// FileState{} if there is no such file.
inline FileState state_of_file(const std::string& path) {
  System system;
  FileStatus status;
  return system.status_of_path(path.c_str(), Links::follow, status) == 0 ? state_of(status)
                                                                         : FileState{};
}

}  // namespace fastdump::tests
