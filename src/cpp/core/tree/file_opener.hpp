// Opens the files of a tree by their names in the directory that was opened last: a long path is
// looked up once a directory, not once a file. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/io/file.hpp"
#include "core/tree/walk.hpp"

namespace fastdump {

class FileOpener {
 public:
  explicit FileOpener(const FileTree& tree) : tree_(tree) {}

  const FileTree& tree() const { return tree_; }
  // As File::wait_for(path) does, error() included.
  File open(std::size_t file);

 private:
  void close_directory();

  const FileTree& tree_;
  std::optional<std::uint32_t> opened_;  // which directory_ is
  File directory_;
  std::string path_;  // scratch
};

}  // namespace fastdump
