#include "core/scan/locate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/formats/file_name.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/scan/describe.hpp"
#include "core/scan/reported_rows.hpp"

namespace fastdump {
namespace {

// Why a file with such a name is not opened; empty: its content decides.
std::string_view skipped_by_name(NameKind kind) {
  switch (kind) {
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
  Locator(const FileTree& tree, std::size_t file, std::span<std::byte> buffer) : buffer_(buffer) {
    located_.rows.file = file;
    located_.rows.name = parse_file_name(tree.real_name(file));
  }

  LocatedFile run(FileOpener& opener, const Selection& selection,
                  std::vector<FileDescription>& dumps) {
    const std::size_t file = located_.rows.file;
    if (!selection.may_hold(opener.tree().directory(file).where, name_)) return excluded();
    if (name_.kind == NameKind::mapping) return excluded();  // the walk has read it
    const std::string_view reason = skipped_by_name(name_.kind);
    if (!reason.empty()) return skipped(reason);
    located_.file = opener.open(file);
    if (located_.file.error() != 0) return unreadable(located_.file.error());
    if (const int error = read_head(); error != 0) return unreadable(error);
    try {
      if (name_.kind == NameKind::statistics || is_statistics_csv(located_.head)) {
        if (const int error = read_on(); error != 0) return unreadable(error);
        return with_reported(selection);
      }
      if (!describe_short(dumps)) {
        if (const int error = read_on(); error != 0) return unreadable(error);
        describe(located_.file, located_.size, located_.head, name_, dumps);
      }
    } catch (const FormatError& error) {
      if (name_.kind == NameKind::statistics) {
        if (!name_.is_dump()) return skipped("other CSV file");
        located_.rows.source = Source::csv;
      }
      if (!name_.is_dump()) return skipped(describe_unknown(located_.head));
      if (!selection.has_op_name({}, name_.op_name)) return excluded();
      return row(Status::malformed, Note(error.what()));
    } catch (const SystemError& error) {
      return unreadable(error.error_number());
    }
    if (!selection.has_op_name(dumps.front().op_name, name_.op_name)) return excluded();
    return with_tensors(dumps, selection);
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

  LocatedFile row(Status status, Note note) {
    located_.kind = LocatedFile::Kind::row;
    located_.rows.status = status;
    located_.rows.note = std::move(note);
    return std::move(located_);
  }

  LocatedFile unreadable(int error) {
    if (!name_.is_dump()) {
      return skipped(error == ENOENT ? "vanished before it was read" : "file that cannot be read");
    }
    return row(Status::unreadable, Note(error_text(error)));
  }

  // The first bytes, and the size, if the file does not end within them.
  int read_head() {
    const ReadResult first = read_some_at(located_.file, buffer_.first(kFirstReadBytes), 0);
    if (first.error != 0) return first.error;
    located_.head = buffer_.first(first.nbytes);
    located_.size = first.nbytes;
    is_short_ = first.nbytes < kFirstReadBytes;
    return is_short_ ? 0 : read_rest();
  }

  // Whether what a short read gave is one dump and nothing else: nobody has to be asked whether the
  // file ends there. For small files a call less of four.
  bool describe_short(std::vector<FileDescription>& dumps) const {
    if (!is_short_) return false;
    try {
      describe(located_.file, located_.size, located_.head, name_, dumps);
    } catch (const FormatError&) {
      return false;
    }
    const FileDescription& dump = dumps.front();
    const auto is_ok = [](const TensorDescription& tensor) { return tensor.status == Status::ok; };
    return dumps.size() == 1 && dump.kind == FileKind::standard && !dump.tensors.empty() &&
           dump.note.empty() && std::ranges::all_of(dump.tensors, is_ok);
  }

  // What follows a short read, if anything does.
  int read_on() {
    if (!is_short_) return 0;
    is_short_ = false;
    const std::size_t n = located_.head.size();
    const auto room = buffer_.subspan(n, kFirstReadBytes - n);
    const ReadResult more = read_at(located_.file, room, n);
    if (more.error != 0) return more.error;
    located_.head = buffer_.first(n + more.nbytes);
    located_.size = located_.head.size();
    return located_.size < kFirstReadBytes ? 0 : read_rest();
  }

  // What follows the first read, if the buffer holds it.
  int read_rest() {
    const std::size_t n = located_.head.size();
    const std::int64_t size = located_.file.size();
    if (size < 0) return static_cast<int>(-size);
    located_.size = std::max<std::uint64_t>(located_.size, static_cast<std::uint64_t>(size));
    if (located_.size > buffer_.size()) return 0;
    const auto rest = buffer_.subspan(n, located_.size - n);
    const ReadResult second = read_at(located_.file, rest, n);
    located_.head = buffer_.first(n + second.nbytes);
    located_.size = located_.head.size();
    return second.error;
  }

  LocatedFile with_reported(const Selection& selection) {
    if (located_.size > kMaxStatisticsBytes) {
      throw FormatError(
          std::to_string(located_.size) + " bytes are too many for a table of statistics", 0);
    }
    std::string text(located_.size, '\0');
    const ReadResult read = read_at(located_.file, std::as_writable_bytes(std::span(text)), 0);
    if (read.error != 0) return unreadable(read.error);
    text.resize(read.nbytes);
    located_.reported = reported_rows(located_.rows.file, name_, selection, text);
    located_.kind = LocatedFile::Kind::reported;
    return located_.reported.empty() ? excluded() : std::move(located_);
  }

  LocatedFile with_tensors(std::vector<FileDescription>& dumps, const Selection& selection) {
    FileDescription& first = dumps.front();
    located_.rows.op_name = std::move(first.op_name);
    if (first.tensors.empty() && dumps.size() == 1) {
      Note note("the header describes no tensor");
      note.add(first.note);
      return row(Status::ok, std::move(note));
    }
    located_.kind = LocatedFile::Kind::tensors;
    located_.rows.note = dumps.back().note;
    located_.rows.tensors.reserve(first.tensors.size());
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      for (TensorDescription& tensor : dumps[i].tensors) {
        if (!selection.has(tensor)) continue;
        if (i > 0) mark_appended(tensor, i, dumps.size());
        located_.rows.tensors.push_back({std::move(tensor), {}});
      }
    }
    if (located_.rows.tensors.empty()) return excluded();
    return std::move(located_);
  }

  // Its io and index are those of a tensor of the first dump: the note tells them apart.
  static void mark_appended(TensorDescription& tensor, std::size_t i, std::size_t n) {
    Note note("of dump " + std::to_string(i + 1) + " of " + std::to_string(n) + " in this file");
    note.add(tensor.note);
    tensor.note = std::move(note);
  }

  std::span<std::byte> buffer_;
  bool is_short_ = false;  // the file may go on behind the head, or not
  LocatedFile located_;
  const FileName& name_ = located_.rows.name;
};

}  // namespace

LocatedFile locate(FileOpener& opener, std::size_t file, const Selection& selection,
                   std::span<std::byte> buffer, std::vector<FileDescription>& dumps) {
  return Locator(opener.tree(), file, buffer).run(opener, selection, dumps);
}

}  // namespace fastdump
