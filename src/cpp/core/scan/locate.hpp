// One file from its name to the description of its tensors: the start of the file is read, no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/file.hpp"
#include "core/scan/row.hpp"
#include "core/tree/file_opener.hpp"
#include "core/tree/selection.hpp"
#include "core/tree/walk.hpp"

namespace fastdump {

struct LocatedFile {
  enum class Kind {
    tensors,   // rows.tensors are described; their payloads may be reduced
    row,       // gives no tensor; rows is complete
    reported,  // of statistics instead of tensors; `reported` is complete
    skipped,   // not a dump, see `reason`
    excluded,  // the selection rules it out
  };

  Kind kind = Kind::skipped;
  std::string_view reason;
  FileRows rows;
  std::vector<FileRows> reported;  // of each operator
  File file;
  std::uint64_t size = 0;
  // The first bytes of the file, in the buffer that locate() was given. A small file is here whole.
  std::span<const std::byte> head;
};

// A first read that takes small files whole; the rest of a file of up to the buffer's size follows.
inline constexpr std::size_t kFirstReadBytes = std::size_t{64} << 10;

// `buffer` has at least kFirstReadBytes. Uses `dumps` as scratch.
LocatedFile locate(FileOpener& opener, std::size_t file, const Selection& selection,
                   std::span<std::byte> buffer, std::vector<FileDescription>& dumps);

}  // namespace fastdump
