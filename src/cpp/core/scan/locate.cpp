#include "core/scan/locate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/file_format.hpp"
#include "core/formats/file_name.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/io/file_state.hpp"
#include "core/scan/file_header.hpp"

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

class Locator {
 public:
  Locator(const FileTree& tree, std::size_t file, FirstRead first_read, std::span<std::byte> buffer)
      : first_read_(first_read), buffer_(buffer) {
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
    const std::int64_t begin_ns = system().now_ns();
    file_ = opener.open(rows_.file);
    if (file_.error() != 0) return unreadable(file_.error());
    if (const int problem = read_head(begin_ns); problem != 0) return uncertain(problem);
    try {
      FileHeader bytes(file_, located_.head, located_.nbytes);
      FileContent content = describe_content(bytes, name_, reused);
      const bool is_certain = is_certain_ && !bytes.has_fetched();
      const int problem = is_certain ? 0 : file_.check_state(*rows_.state);
      if (problem != 0) return uncertain(problem);
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
    return {std::move(rows_)};
  }

  LocatedFile uncertain(int problem) {
    if (problem != kFileChanged) return unreadable(problem);
    if (!name_.is_dump()) return SkippedFile{"changed while it was read"};
    set_uncertain(rows_, problem);
    return with_one_row(rows_.status, std::move(rows_.note));
  }

  LocatedFile unreadable(int error) {
    rows_.state.reset();
    if (name_.is_dump()) return with_one_row(Status::unreadable, Note(std::strerror(error)));
    return SkippedFile{error == ENOENT ? "vanished before it was read"
                                       : "file that cannot be read"};
  }

  LocatedFile refused(const Refusal& refusal, const Selection& selection) {
    const bool is_csv = name_.kind == NameKind::statistics;
    const bool is_statistics = is_csv && is_statistics_csv(located_.head);
    if (!name_.is_dump() && !is_statistics)
      return SkippedFile{is_csv ? "other CSV file" : name_of_unknown(located_.head)};
    if (is_csv) {
      rows_.source = RowSource::csv;
    } else if (!selection.has_op_name({}, name_.op_name)) {
      return ExcludedFile{};
    }
    return with_one_row(Status::malformed, Note(refusal.what));
  }

  // Reads the first bytes and finds out of which state of the file they are: of the one that it is
  // in afterwards, if it was not written to for some time. That takes one call; to ask before and
  // after would take two. Returns what uncertain() takes.
  int read_head(std::int64_t begin_ns) {
    const bool is_header = first_read_ == FirstRead::header;
    const std::size_t first_nbytes =
        std::min(is_header ? kHeaderReadBytes : kSmallFileReadBytes, buffer_.size());
    const ReadResult first = read_some_at(file_, buffer_.first(first_nbytes), 0);
    if (first.error != 0) return first.error;
    FileStatus status;
    if (const int error = file_.status(status); error != 0) return error;
    const bool is_usable = is_unchanged_since(begin_ns, status) && first.nbytes <= status.nbytes;
    if (!is_usable) {
      if (const int problem = file_.settled_status(status); problem != 0) return problem;
    }
    rows_.state = state_of(status);
    located_.nbytes = status.nbytes;
    located_.head = buffer_.first(is_usable ? first.nbytes : 0);
    const bool takes_all = !is_header && located_.nbytes <= buffer_.size();
    const std::uint64_t end =
        takes_all ? located_.nbytes : std::min<std::uint64_t>(located_.nbytes, first_nbytes);
    is_certain_ = is_usable && located_.head.size() == end;
    return is_certain_ ? 0 : read_on(static_cast<std::size_t>(end));
  }

  // Reads what follows the head, up to byte `end`. Returns an errno.
  int read_on(std::size_t end) {
    const std::size_t n = located_.head.size();
    const ReadResult rest = read_at(file_, buffer_.subspan(n, end - n), n);
    located_.head = buffer_.first(n + rest.nbytes);
    if (located_.head.size() < end) located_.nbytes = located_.head.size();  // it was cut meanwhile
    return rest.error;
  }

  LocatedFile with_statistics(StatisticsCsv csv, const Selection& selection) {
    return ReportedFile{ReportedRows(rows_.file, rows_.state, name_, selection, std::move(csv)),
                        located_.nbytes};
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

  const FirstRead first_read_;
  std::span<std::byte> buffer_;
  LocatedTensors located_;
  FileRows& rows_ = located_.rows;
  const FileName& name_ = rows_.name;
  File& file_ = located_.file;
  // Whether the head is of rows_.state: otherwise, or if more is read, the file is asked again.
  bool is_certain_ = false;
};

}  // namespace

LocatedFile locate(FileOpener& opener, std::size_t file, const Selection& selection,
                   FirstRead first_read, std::span<std::byte> buffer,
                   std::vector<FileDescription>& reused) {
  return Locator(opener.tree(), file, first_read, buffer).run(opener, selection, reused);
}

}  // namespace fastdump
