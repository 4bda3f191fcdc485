// One file from its name to the description of its tensors: the start of the file is read, no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/io/file.hpp"
#include "core/scan/reported_rows.hpp"
#include "core/scan/row.hpp"
#include "core/tree/file_opener.hpp"
#include "core/tree/selection.hpp"

namespace fastdump {

// The selection rules the file out.
struct ExcludedFile {};

// The file is no dump.
struct SkippedFile {
  std::string_view reason;
};

// All there is to say of a file that gives no tensor.
struct FinishedFile {
  FileRows rows;
};

// The file reports statistics.
struct ReportedFile {
  ReportedRows rows;
  std::uint64_t nbytes = 0;  // that were read of it
};

// Tensors are described, and their payloads may be reduced.
struct LocatedTensors {
  FileRows rows;
  File file;
  std::uint64_t nbytes = 0;  // of the file
  // The first bytes of the file, in the buffer that locate() was given. A small file is here whole.
  std::span<const std::byte> head;

  bool is_whole() const { return head.size() == nbytes; }
};

using LocatedFile =
    std::variant<ExcludedFile, SkippedFile, FinishedFile, ReportedFile, LocatedTensors>;

// What is read of a file before anything is known of it.
enum class FirstRead : std::uint8_t {
  header,      // as much as most headers have
  small_file,  // all of a small file; the rest of a file of up to the buffer's size follows
};
inline constexpr std::size_t kHeaderReadBytes = std::size_t{4} << 10;
inline constexpr std::size_t kSmallFileReadBytes = std::size_t{64} << 10;

// No more is read than `buffer` has room for, which is at least kHeaderReadBytes; a ReportedFile
// may look at it until it has no more rows. The memory of `reused` is used, and given back.
LocatedFile locate(FileOpener& opener, std::size_t file, const Selection& selection,
                   FirstRead first_read, std::span<std::byte> buffer,
                   std::vector<FileDescription>& reused);

}  // namespace fastdump
