#include "core/scan/locate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/formats/file_name.hpp"
#include "core/formats/standard.hpp"

namespace fastdump {
namespace {

// Why a file with such a name is not opened; empty: its content decides.
std::string_view skipped_by_name(NameKind kind) {
  switch (kind) {
    case NameKind::statistics:
      return "statistics CSV";
    case NameKind::converted:
      return "converted file";
    case NameKind::core:
      return "ELF core";
    default:
      return {};
  }
}

std::string_view describe_unknown(std::span<const std::byte> head) {
  if (head.empty()) return "empty file";
  const auto is_text = [](std::byte byte) {
    const auto c = static_cast<unsigned char>(byte);
    return c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r';
  };
  const auto start = head.first(std::min<std::size_t>(head.size(), 512));
  return std::ranges::all_of(start, is_text) ? "text file" : "not a dump file";
}

std::string error_text(int error) { return std::strerror(error); }

class Locator {
 public:
  Locator(const FileTree& tree, std::size_t file, std::span<std::byte> buffer)
      : buffer_(buffer), name_(parse_file_name(tree.real_name(file))) {
    located_.rows.file = file;
  }

  LocatedFile run(const FileTree& tree, const Selection& selection, FileDescription& description) {
    const std::size_t file = located_.rows.file;
    if (!selection.may_hold(tree.directory(file).where, name_)) return excluded();
    if (name_.kind == NameKind::mapping) return excluded();  // the walk has read it
    const std::string_view reason = skipped_by_name(name_.kind);
    if (!reason.empty()) return skipped(reason);
    std::string path;
    located_.file = File(tree.path(file, path));
    if (located_.file.error() != 0) return unreadable(located_.file.error());
    if (const int error = read_head(); error != 0) return unreadable(error);
    try {
      describe(description);
    } catch (const FormatError& error) {
      if (!name_.is_dump()) return skipped(describe_unknown(located_.head));
      if (!selection.has_op_name({}, name_.op_name)) return excluded();
      return row(Status::malformed, error.what());
    }
    if (!selection.has_op_name(description.op_name, name_.op_name)) return excluded();
    return with_tensors(description, selection);
  }

 private:
  LocatedFile excluded() {
    located_.kind = LocatedFile::Kind::excluded;
    return std::move(located_);
  }

  LocatedFile skipped(std::string_view reason) {
    located_.kind = LocatedFile::Kind::skipped;
    located_.reason = reason;
    return std::move(located_);
  }

  LocatedFile row(Status status, std::string note) {
    located_.kind = LocatedFile::Kind::row;
    located_.rows.status = status;
    located_.rows.note = std::move(note);
    return std::move(located_);
  }

  LocatedFile unreadable(int error) {
    if (!name_.is_dump()) {
      return skipped(error == ENOENT ? "vanished before it was read" : "file that cannot be read");
    }
    return row(Status::unreadable, error_text(error));
  }

  // The first bytes, and the size: a file that ends within them needs no further call to tell it.
  int read_head() {
    const ReadResult first = read_at(located_.file, buffer_.first(kFirstReadBytes), 0);
    if (first.error != 0) return first.error;
    located_.head = buffer_.first(first.nbytes);
    located_.size = first.nbytes;
    if (first.nbytes < kFirstReadBytes) return 0;
    const std::int64_t size = located_.file.size();
    if (size < 0) return static_cast<int>(-size);
    located_.size = std::max<std::uint64_t>(located_.size, static_cast<std::uint64_t>(size));
    if (located_.size > buffer_.size()) return 0;
    const auto rest = buffer_.subspan(first.nbytes, located_.size - first.nbytes);
    const ReadResult second = read_at(located_.file, rest, first.nbytes);
    located_.head = buffer_.first(first.nbytes + second.nbytes);
    located_.size = located_.head.size();
    return second.error;
  }

  void describe(FileDescription& description) {
    const std::uint64_t end = standard_header_end(located_.head, located_.size);
    if (end <= located_.head.size()) {
      describe_standard(located_.head, located_.size, description);
      return;
    }
    // A header that the first read cut: its length was checked against the file and the limit.
    std::vector<std::byte> header(end);
    const ReadResult read = read_at(located_.file, header, 0);
    if (read.nbytes < end) {
      throw FormatError("the file shrank while its header was read: " +
                            std::to_string(read.nbytes) + " of " + std::to_string(end) + " bytes",
                        read.nbytes);
    }
    describe_standard(header, located_.size, description);
  }

  LocatedFile with_tensors(FileDescription& description, const Selection& selection) {
    located_.rows.op_name = std::move(description.op_name);
    if (description.tensors.empty()) {
      std::string note = "the header describes no tensor";
      if (!description.note.empty()) note += "; " + description.note;
      return row(Status::ok, std::move(note));
    }
    located_.kind = LocatedFile::Kind::tensors;
    located_.rows.note = description.note;
    located_.rows.tensors.reserve(description.tensors.size());
    for (TensorDescription& tensor : description.tensors) {
      if (selection.has(tensor.io)) located_.rows.tensors.push_back({std::move(tensor), {}});
    }
    if (located_.rows.tensors.empty()) return excluded();
    return std::move(located_);
  }

  std::span<std::byte> buffer_;
  FileName name_;
  LocatedFile located_;
};

}  // namespace

LocatedFile locate(const FileTree& tree, std::size_t file, const Selection& selection,
                   std::span<std::byte> buffer, FileDescription& description) {
  return Locator(tree, file, buffer).run(tree, selection, description);
}

}  // namespace fastdump
