#include "core/scan/locate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/file_format.hpp"
#include "core/formats/file_name.hpp"
#include "core/scan/file_header.hpp"
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

std::string_view name_of_unknown(std::span<const std::byte> head) {
  if (head.empty()) return "empty file";
  const auto is_text = [](std::byte byte) {
    const auto c = static_cast<unsigned char>(byte);
    return c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r';
  };
  const auto start = head.first(std::min<std::size_t>(head.size(), 512));
  return std::ranges::all_of(start, is_text) ? "text file" : "not a dump file";
}

// Whether the content is one dump that lacks nothing and has nothing behind it.
bool is_one_whole_dump(const FileContent& content) {
  const auto* tensors = std::get_if<DumpedTensors>(&content);
  if (tensors == nullptr || tensors->dumps.size() != 1) return false;
  const FileDescription& dump = tensors->dumps.front();
  const auto is_ok = [](const TensorDescription& tensor) { return tensor.status == Status::ok; };
  return dump.kind == FileKind::standard && !dump.tensors.empty() && dump.note.empty() &&
         std::ranges::all_of(dump.tensors, is_ok);
}

class Locator {
 public:
  Locator(const FileTree& tree, std::size_t file, std::span<std::byte> buffer) : buffer_(buffer) {
    rows_.file = file;
    rows_.name = parse_file_name(tree.real_name(file));
  }

  LocatedFile run(FileOpener& opener, const Selection& selection,
                  std::vector<FileDescription>& reused) {
    if (!selection.may_hold(opener.tree().directory(rows_.file).where, name_)) {
      return ExcludedFile{};
    }
    if (name_.kind == NameKind::mapping) return ExcludedFile{};  // the walk has read it
    const std::string_view reason = skipped_by_name(name_.kind);
    if (!reason.empty()) return SkippedFile{reason};
    file_ = opener.open(rows_.file);
    if (file_.error() != 0) return unreadable(file_.error());
    if (const int error = read_head(); error != 0) return unreadable(error);
    try {
      FileContent content = describe(reused);
      if (auto* tensors = std::get_if<DumpedTensors>(&content)) {
        reused = std::move(tensors->dumps);
        return with_tensors(reused, selection);
      }
      if (auto* csv = std::get_if<StatisticsCsv>(&content)) {
        return with_statistics(std::move(*csv), selection);
      }
      return refused(std::get<Refusal>(content), selection);
    } catch (const SystemError& error) {
      return unreadable(error.error_number());
    }
  }

 private:
  FinishedFile with_one_row(Status status, Note note) {
    rows_.status = status;
    rows_.note = std::move(note);
    FinishedFile finished;
    finished.rows.push_back(std::move(rows_));
    return finished;
  }

  LocatedFile unreadable(int error) {
    if (name_.is_dump()) return with_one_row(Status::unreadable, Note(std::strerror(error)));
    return SkippedFile{error == ENOENT ? "vanished before it was read"
                                       : "file that cannot be read"};
  }

  LocatedFile refused(const Refusal& refusal, const Selection& selection) {
    const bool is_csv = name_.kind == NameKind::statistics;
    if (!name_.is_dump())
      return SkippedFile{is_csv ? "other CSV file" : name_of_unknown(located_.head)};
    if (is_csv) {
      rows_.source = RowSource::csv;
    } else if (!selection.has_op_name({}, name_.op_name)) {
      return ExcludedFile{};
    }
    return with_one_row(Status::malformed, Note(refusal.what));
  }

  // Reads the first bytes, and asks for the size if the file does not end within them. Returns an
  // errno.
  int read_head() {
    const ReadResult first = read_some_at(file_, buffer_.first(kFirstReadBytes), 0);
    if (first.error != 0) return first.error;
    located_.head = buffer_.first(first.nbytes);
    located_.nbytes = first.nbytes;
    may_go_on_ = first.nbytes < kFirstReadBytes;
    return may_go_on_ ? read_again_if_cut() : read_rest();
  }

  // A read that meets a cut may return zeros for what goes, and they reach to its end. Returns an
  // errno.
  int read_again_if_cut() {
    if (located_.head.empty() || located_.head.back() != std::byte{0}) return 0;
    const std::int64_t size = file_.size();
    if (size < 0) return static_cast<int>(-size);
    return static_cast<std::uint64_t>(size) < located_.head.size() ? read_again() : 0;
  }

  int read_again() {
    const ReadResult again = read_at(file_, buffer_.first(located_.head.size()), 0);
    located_.head = buffer_.first(again.nbytes);
    located_.nbytes = again.nbytes;
    return again.error;
  }

  // If a short read gave one dump and nothing else, nobody has to be asked whether the file ends
  // there: for small files that is a call less of four.
  FileContent describe(std::vector<FileDescription>& reused) {
    FileContent content = describe_head(reused);
    if (may_go_on_ && !is_one_whole_dump(content) && read_on()) {
      if (auto* tensors = std::get_if<DumpedTensors>(&content)) reused = std::move(tensors->dumps);
      content = describe_head(reused);
    }
    return content;
  }

  FileContent describe_head(std::vector<FileDescription>& reused) {
    FileHeader bytes(file_, located_.head, located_.nbytes);
    return describe_content(bytes, name_, reused);
  }

  // Reads what follows a short read. False if nothing does. Throws SystemError.
  bool read_on() {
    may_go_on_ = false;
    const std::size_t n = located_.head.size();
    const ReadResult more = read_at(file_, buffer_.subspan(n, kFirstReadBytes - n), n);
    if (more.error != 0) throw SystemError(more.error, {});
    located_.head = buffer_.first(n + more.nbytes);
    located_.nbytes = located_.head.size();
    if (located_.nbytes == kFirstReadBytes) {
      if (const int error = read_rest(); error != 0) throw SystemError(error, {});
    }
    return more.nbytes != 0;
  }

  // Reads what follows the first read, if the buffer holds it. Returns an errno.
  int read_rest() {
    const std::size_t n = located_.head.size();
    const std::int64_t size = file_.size();
    if (size < 0) return static_cast<int>(-size);
    if (static_cast<std::uint64_t>(size) < n) return read_again();
    located_.nbytes = static_cast<std::uint64_t>(size);
    if (located_.nbytes > buffer_.size()) return 0;
    const ReadResult rest = read_at(file_, buffer_.subspan(n, located_.nbytes - n), n);
    located_.head = buffer_.first(n + rest.nbytes);
    located_.nbytes = located_.head.size();
    return rest.error != 0 ? rest.error : read_again_if_cut();
  }

  LocatedFile with_statistics(StatisticsCsv csv, const Selection& selection) {
    FinishedFile finished;
    finished.rows = reported_rows(rows_.file, name_, selection, std::move(csv));
    finished.nbytes = located_.nbytes;
    if (finished.rows.empty()) return ExcludedFile{};
    return finished;
  }

  LocatedFile with_tensors(std::vector<FileDescription>& dumps, const Selection& selection) {
    FileDescription& first = dumps.front();
    if (!selection.has_op_name(first.op_name, name_.op_name)) return ExcludedFile{};
    rows_.op_name = std::move(first.op_name);
    if (first.tensors.empty() && dumps.size() == 1) {
      Note note("the header describes no tensor");
      note.add(first.header_note);
      note.add(first.note);
      return with_one_row(Status::ok, std::move(note));
    }
    rows_.note = dumps.back().note;
    rows_.tensors.reserve(first.tensors.size());
    for (std::size_t i = 0; i < dumps.size(); ++i) {
      for (TensorDescription& tensor : dumps[i].tensors) {
        if (!selection.has(tensor)) continue;
        if (i > 0) mark_appended(tensor, i, dumps.size());
        if (!first.header_note.empty()) tensor.note.add(first.header_note);
        rows_.tensors.push_back({std::move(tensor), {}});
      }
    }
    if (rows_.tensors.empty()) return ExcludedFile{};
    return std::move(located_);
  }

  // A tensor of an appended dump has the io and index of one of the first: the note tells them
  // apart.
  static void mark_appended(TensorDescription& tensor, std::size_t i, std::size_t n) {
    Note note("of dump " + std::to_string(i + 1) + " of " + std::to_string(n) + " in this file");
    note.add(tensor.note);
    tensor.note = std::move(note);
  }

  std::span<std::byte> buffer_;
  LocatedTensors located_;  // its size of the file is what is known so far
  FileRows& rows_ = located_.rows;
  const FileName& name_ = rows_.name;
  File& file_ = located_.file;
  bool may_go_on_ = false;  // behind the head, after a short read
};

}  // namespace

LocatedFile locate(FileOpener& opener, std::size_t file, const Selection& selection,
                   std::span<std::byte> buffer, std::vector<FileDescription>& reused) {
  return Locator(opener.tree(), file, buffer).run(opener, selection, reused);
}

}  // namespace fastdump
