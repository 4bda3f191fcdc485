// Opens files by their names in the directory that was opened last: a long path is looked up once a
// directory, not once a file. For one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/io/file.hpp"

namespace fastdump {

class LastDirectory {
 public:
  // The file that has a name in a directory; error() tells why there is none. Empty where its whole
  // path has to be tried: if the directory cannot be opened, which may hold files that can, or if
  // descriptors are scarce. Then it keeps none, for whose sake others would wait.
  std::optional<File> open(std::string_view directory, const char* name);

 private:
  std::optional<std::string> path_;  // of directory_, which may have failed to open
  File directory_;
};

}  // namespace fastdump
