// Opens the files of a tree, those of one directory after another. For one thread.
#pragma once

#include <cstddef>
#include <string>

#include "core/io/file.hpp"
#include "core/io/last_directory.hpp"
#include "core/tree/walk.hpp"

namespace fastdump {

class FileOpener {
 public:
  explicit FileOpener(const FileTree& tree) : tree_(tree) {}

  const FileTree& tree() const { return tree_; }
  // As File::wait_for(path) does, error() included.
  File open(std::size_t file);

 private:
  const FileTree& tree_;
  LastDirectory last_;
  std::string path_;  // scratch
};

}  // namespace fastdump
