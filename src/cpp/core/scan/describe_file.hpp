// What the headers of a single file say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/description.hpp"
#include "core/io/file_state.hpp"

namespace fastdump {

struct DescribedFile {
  // The first is the one that the file's name is about; those appended to it follow. A table of
  // statistics is one, of tensors that are absent.
  std::vector<FileDescription> dumps;
  std::uint64_t nbytes = 0;
  FileState state{};  // all that is described is of this state
};

// Throws SystemError and FileChangedError, and FormatError if the file is no dump.
DescribedFile describe_file(const std::string& path);

}  // namespace fastdump
