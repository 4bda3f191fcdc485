#include "core/formats/standard.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/byte_cursor.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/ffts_slices.hpp"
#include "core/formats/payload.hpp"
#include "core/size.hpp"

namespace fastdump {
namespace {

constexpr std::size_t kLengthNbytes = 8;

bool is_text(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n';
  });
}

// A JSON header would begin with a field of a DumpData whose number there is not.
bool has_json_header(std::span<const std::byte> head) {
  return head.size() > kLengthNbytes && head[kLengthNbytes] == std::byte{'{'};
}

// Text reads as a length beyond the limit: that tells that something is wrong, this tells what.
Refusal refuse_length(std::span<const std::byte> head, std::uint64_t length,
                      const std::string& why) {
  std::string what = "header length " + std::to_string(length) + " at byte 0 " + why;
  if (is_text(head.first(kLengthNbytes))) what += ": the file begins with text";
  return {std::move(what), 0};
}

// Decodes a header with its length. Payloads are not placed yet.
void decode_header(std::span<const std::byte> header, std::optional<std::int64_t> thread_id,
                   FileDescription& description) {
  const auto message = header.subspan(kLengthNbytes);
  decode_dump_data(message, kLengthNbytes, Payloads::behind, description);
  description.kind = FileKind::standard;
  description.fortran_order = false;
  description.header_nbytes = message.size();
  if (thread_id) apply_ffts_slices(description, *thread_id);
  cut_texts(description);
}

// Whether another dump may follow in the `n_left` bytes after the header, and begin earlier than
// the sizes of this one say.
bool may_be_placed_again(const FileDescription& description, std::uint64_t n_left) {
  const std::uint64_t skippable = skippable_nbytes(description);
  return skippable != 0 && sum_of_sizes(description.tensors) - skippable < n_left;
}

// A dump that begins at byte `begin`, with all that is needed to place its payloads once more.
struct PlacedDump {
  std::uint64_t begin = 0;
  std::uint64_t header_end = 0;  // from its begin
  // Before its payloads were placed, if they may have to be placed again.
  std::optional<FileDescription> decoded;
};

// A dump's place in the file becomes that of its tensors.
void move_tensors(FileDescription& description, std::uint64_t begin) {
  for (TensorDescription& tensor : description.tensors) tensor.offset = add(tensor.offset, begin);
}

// Finds the dumps that follow the first.
class AppendedDumps {
 public:
  AppendedDumps(HeaderBytes& file, std::optional<std::int64_t> thread_id,
                std::vector<FileDescription>& dumps)
      : file_(file), thread_id_(thread_id), dumps_(dumps) {}

  // `last` is the first dump, which ends at byte `end`.
  void find(PlacedDump last, std::uint64_t end) {
    std::size_t n_tensors = dumps_.front().tensors.size();
    n_header_bytes_ = dumps_.front().header_nbytes;
    while (end < file_.file_nbytes() && dumps_.size() <= kMaxAppended) {
      // If the writer skipped tensors at null addresses, the last dump ends before the end of its
      // sizes. Nothing but a dump that begins there can tell.
      const std::uint64_t skippable = last.decoded ? skippable_nbytes(*last.decoded) : 0;
      PlacedDump next;
      FileDescription description;
      std::optional<std::uint64_t> next_end = describe_at(end, next, description);
      const bool has_skipped = !next_end && skippable > 0;
      if (has_skipped) next_end = describe_at(end - skippable, next, description);
      n_tensors += description.tensors.size();
      if (!next_end || n_tensors > kMaxTensorsPerFile) return;
      if (has_skipped) {
        end -= skippable;
        dumps_.back() = *std::move(last.decoded);
        place_payloads(dumps_.back(), last.header_end, end - last.begin);
        move_tensors(dumps_.back(), last.begin);
      }
      dumps_.back().note.clear();  // the trailing bytes are explained
      dumps_.push_back(std::move(description));
      last = std::move(next);
      end = *next_end;
    }
  }

 private:
  // Describes a standard dump that begins at this byte, and returns where it ends. Empty if none
  // begins there, or if there would be more header than one file may have.
  std::optional<std::uint64_t> describe_at(std::uint64_t begin, PlacedDump& dump,
                                           FileDescription& description) {
    const std::uint64_t nbytes = file_.file_nbytes() - begin;
    try {
      const auto head = file_.read(begin, std::min<std::uint64_t>(nbytes, kMinHeadBytes));
      const auto header_end = find_standard_header_end(head, nbytes);
      const auto* n = std::get_if<std::uint64_t>(&header_end);
      if (n == nullptr || n_header_bytes_ + *n > kMaxHeaderBytes) return std::nullopt;
      dump.begin = begin;
      dump.header_end = *n;
      decode_header(file_.read(begin, *n), thread_id_, description);
    } catch (const FormatError&) {
      return std::nullopt;
    }
    // Bytes that happen to be a message of unknown fields are no dump.
    if (description.tensors.empty()) return std::nullopt;
    n_header_bytes_ += dump.header_end;
    // Nobody asks for these of any dump but the first.
    description.attrs = {};
    description.dfx_message = {};
    if (may_be_placed_again(description, nbytes - dump.header_end)) dump.decoded = description;
    const std::uint64_t end = begin + place_payloads(description, dump.header_end, nbytes);
    move_tensors(description, begin);
    return end;
  }

  HeaderBytes& file_;
  const std::optional<std::int64_t> thread_id_;
  std::vector<FileDescription>& dumps_;
  std::uint64_t n_header_bytes_ = 0;
};

}  // namespace

std::variant<std::uint64_t, Refusal> find_standard_header_end(std::span<const std::byte> head,
                                                              std::uint64_t file_nbytes) {
  if (file_nbytes == 0) return Refusal{"empty file, expected a header length at byte 0"};
  if (file_nbytes < kLengthNbytes || head.size() < kLengthNbytes) {
    return Refusal{"the file ends after " + std::to_string(head.size()) +
                   " bytes, expected the eight bytes of a header length"};
  }
  if (has_json_header(head)) {
    return Refusal{"JSON header at byte 8, expected a protobuf message", 8};
  }
  const std::uint64_t length = ByteCursor::little_endian(head.first(kLengthNbytes));
  if (length == 0) return Refusal{"empty header: header length 0 at byte 0"};
  if (length > file_nbytes - kLengthNbytes) {
    return refuse_length(
        head, length, "runs past the end of the file (" + std::to_string(file_nbytes) + " bytes)");
  }
  if (length > kMaxHeaderBytes) {
    return refuse_length(head, length,
                         "is more than the limit of " + std::to_string(kMaxHeaderBytes) + " bytes");
  }
  return kLengthNbytes + length;
}

std::uint64_t describe_standard(std::span<const std::byte> head, std::uint64_t file_nbytes,
                                std::optional<std::int64_t> thread_id,
                                FileDescription& description) {
  const auto end = find_standard_header_end(head, file_nbytes);
  if (const auto* refusal = std::get_if<Refusal>(&end)) {
    throw FormatError(refusal->what, refusal->offset);
  }
  const std::uint64_t header_end = std::get<std::uint64_t>(end);
  if (head.size() < header_end) {
    throw FormatError("the header ends at byte " + std::to_string(header_end) + ", only " +
                          std::to_string(head.size()) + " bytes could be read",
                      head.size());
  }
  decode_header(head.first(header_end), thread_id, description);
  return place_payloads(description, header_end, file_nbytes);
}

void describe_standard_file(std::span<const std::byte> header, HeaderBytes& file,
                            std::optional<std::int64_t> thread_id,
                            std::vector<FileDescription>& dumps) {
  dumps.resize(1);
  PlacedDump first;
  first.header_end = header.size();
  decode_header(header, thread_id, dumps.front());
  const std::uint64_t n_left = file.file_nbytes() - first.header_end;
  if (may_be_placed_again(dumps.front(), n_left)) first.decoded = dumps.front();
  const std::uint64_t end = place_payloads(dumps.front(), first.header_end, file.file_nbytes());
  if (end < file.file_nbytes()) {
    AppendedDumps(file, thread_id, dumps).find(std::move(first), end);
  }
}

}  // namespace fastdump
