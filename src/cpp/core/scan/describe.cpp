#include "core/scan/describe.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/nano.hpp"
#include "core/formats/npy.hpp"
#include "core/formats/payload.hpp"
#include "core/formats/standard.hpp"
#include "core/formats/statistics_csv.hpp"
#include "core/formats/version_1.hpp"
#include "core/io/mapping.hpp"
#include "core/io/page_guard.hpp"
#include "core/size.hpp"

namespace fastdump {
namespace {

// Enough to tell how long a header is.
constexpr std::size_t kMinHeadBytes = 12;

// No protobuf message is larger.
constexpr std::uint64_t kMaxInlineBytes = std::numeric_limits<std::int32_t>::max();

class Describer {
 public:
  Describer(const File& file, std::uint64_t size, std::span<const std::byte> head,
            const FileName& name)
      : file_(file), size_(size), head_(head), name_(name) {}

  void run(std::vector<FileDescription>& dumps) {
    dumps.resize(1);
    FileDescription& first = dumps.front();
    if (name_.kind == NameKind::statistics || is_statistics_csv(head_)) {
      describe_statistics(first);
    } else if (has_npy_magic(head_)) {
      describe_npy(bytes(0, npy_header_end(head_, size_)), size_, first);
      if (name_.io) first.tensors.front().io = *name_.io;
      const std::int64_t index = name_.index.value_or(0);
      if (std::in_range<std::uint32_t>(index)) {
        first.tensors.front().index = static_cast<std::uint32_t>(index);
      }
    } else if (has_nano_magic(head_)) {
      describe_nano(bytes(0, nano_header_end(head_, size_)), size_, first);
    } else {
      describe_message(dumps);
    }
  }

 private:
  // Of the file from `offset` on; stays until the next call.
  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t n) {
    if (offset + n <= head_.size()) return head_.subspan(offset, n);
    scratch_.resize(n);
    const ReadResult read = read_at(file_, scratch_, offset);
    if (read.error != 0) throw SystemError(read.error, {});
    if (read.nbytes < n) {
      throw FormatError("the file shrank while its header was read: " +
                            std::to_string(read.nbytes) + " of " + std::to_string(n) + " bytes",
                        offset + read.nbytes);
    }
    return scratch_;
  }

  void describe_statistics(FileDescription& description) {
    if (size_ > kMaxStatisticsBytes) {
      throw FormatError(std::to_string(size_) + " bytes are too many for a table of statistics", 0);
    }
    const auto text = bytes(0, size_);
    // SAFETY: char may alias any object.
    StatisticsCsv csv =
        parse_statistics_csv({reinterpret_cast<const char*>(text.data()), text.size()});
    description = FileDescription{};
    description.kind = FileKind::statistics;
    description.version = "csv";
    description.header_nbytes = size_;
    description.note = std::move(csv.problem);
    for (ReportedTensor& reported : csv.tensors) {
      TensorDescription& tensor = description.tensors.emplace_back(std::move(reported.tensor));
      tensor.status = Status::absent;
      tensor.note.add("only its statistics were dumped");
    }
  }

  // A DumpData with a length before it or, if that makes no sense, as all there is.
  void describe_message(std::vector<FileDescription>& dumps) {
    std::optional<FormatError> not_standard;
    try {
      const std::uint64_t end = describe_standard(bytes(0, standard_header_end(head_, size_)),
                                                  size_, name_.thread_id, dumps.front());
      describe_appended(end, dumps);
      return;
    } catch (const FormatError& error) {
      not_standard = error;
    }
    try {
      describe_inline(dumps.front());
    } catch (const FormatError& error) {
      if (!has_version_1_mark(head_)) throw *not_standard;
      throw FormatError("inline (version 1) dump: " + std::string(error.what()), error.offset());
    }
  }

  // The message spans the file, yet only what lies between its payloads is looked at.
  void describe_inline(FileDescription& description) {
    if (head_.size() == size_) {
      describe_version_1(head_, description);
      return;
    }
    if (size_ > kMaxInlineBytes) throw FormatError("no message is larger than 2 GiB", 0);
    const Mapping mapped(file_, size_);
    if (mapped.data() == nullptr) throw FormatError("the file cannot be mapped", 0);
    std::atomic<bool> lost = false;
    install_page_guard();
    const PageGuard guard(mapped.data(), mapped.nbytes(), lost);
    describe_version_1({mapped.data(), mapped.nbytes()}, description);
    // Behind a new end the rest of its page reads as zeros without a fault.
    if (lost || file_.size() < static_cast<std::int64_t>(size_)) {
      throw FormatError("the file shrank while it was read", 0);
    }
  }

  // What follows the first dump, which ends at byte `end`.
  void describe_appended(std::uint64_t end, std::vector<FileDescription>& dumps) {
    std::size_t n_tensors = dumps.front().tensors.size();
    std::uint64_t begin = 0;  // of the last dump
    FileDescription next;
    while (end < size_ && dumps.size() <= kMaxAppended) {
      // If the writer skipped tensors at null addresses, the last dump ends before the end of its
      // sizes. Nothing but a dump that begins there can tell.
      const std::uint64_t skippable = skippable_nbytes(dumps.back());
      std::optional<std::uint64_t> next_end = describe_at(end, size_, next);
      const bool skipped = !next_end && skippable > 0;
      if (skipped) next_end = describe_at(end - skippable, size_, next);
      n_tensors += next.tensors.size();
      if (!next_end || n_tensors > kMaxTensorsPerFile) return;
      if (skipped) {
        end -= skippable;
        if (!describe_at(begin, end, dumps.back())) {
          throw FormatError("the file changed while its headers were read", begin);
        }
      }
      dumps.back().note.clear();  // the trailing bytes are explained
      dumps.push_back(std::move(next));
      next = {};
      begin = end;
      end = *next_end;
    }
  }

  // A standard dump within the file, which ends before `limit`: returns where. Empty if none
  // begins there.
  std::optional<std::uint64_t> describe_at(std::uint64_t begin, std::uint64_t limit,
                                           FileDescription& description) {
    std::uint64_t end = 0;
    try {
      const std::uint64_t size = limit - begin;
      const auto head = bytes(begin, std::min<std::uint64_t>(size, kMinHeadBytes));
      const std::uint64_t header_end = standard_header_end(head, size);
      end = begin + describe_standard(bytes(begin, header_end), size, name_.thread_id, description);
    } catch (const FormatError&) {
      return std::nullopt;
    }
    // Bytes that happen to be a message of unknown fields are no dump.
    if (description.tensors.empty()) return std::nullopt;
    for (TensorDescription& tensor : description.tensors) {
      tensor.offset = add(tensor.offset, begin);
    }
    return end;
  }

  const File& file_;
  const std::uint64_t size_;
  const std::span<const std::byte> head_;
  const FileName& name_;
  std::vector<std::byte> scratch_;
};

}  // namespace

void describe(const File& file, std::uint64_t size, std::span<const std::byte> head,
              const FileName& name, std::vector<FileDescription>& dumps) {
  Describer(file, size, head, name).run(dumps);
}

}  // namespace fastdump
