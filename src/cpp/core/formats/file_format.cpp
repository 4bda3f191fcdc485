#include "core/formats/file_format.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/formats/dump_data.hpp"
#include "core/formats/nano.hpp"
#include "core/formats/npy.hpp"
#include "core/formats/standard.hpp"
#include "core/formats/version_1.hpp"

namespace fastdump {
namespace {

using HeaderEnd = std::variant<std::uint64_t, Refusal>;
using Dumps = std::vector<FileDescription>;
using Header = std::span<const std::byte>;

enum class Match : std::uint8_t {
  no,
  possible,  // the file may also be of a format that comes later
  certain,   // the file is of this format, or it is broken
};

struct FileFormat {
  // Whether a file is of this format, as far as its name and its first bytes tell.
  Match (*matches)(const HeaderBytes& file, const FileName& name);
  // How many bytes from the start of the file on describe() gets as its header. May throw
  // FormatError.
  HeaderEnd (*header_end)(const HeaderBytes& file);
  // May throw FormatError. The header stays until more bytes of the file are read.
  FileContent (*describe)(Header header, HeaderBytes& file, const FileName& name, Dumps& reused);
};

Match certain_if(bool condition) { return condition ? Match::certain : Match::no; }

DumpedTensors taken(Dumps& dumps) { return {std::exchange(dumps, {})}; }

// ---- statistics

Match matches_statistics(const HeaderBytes& file, const FileName& name) {
  return certain_if(name.kind == NameKind::statistics || is_statistics_csv(file.head()));
}

HeaderEnd statistics_end(const HeaderBytes& file) {
  if (file.file_nbytes() <= kMaxStatisticsBytes) return file.file_nbytes();
  return Refusal{std::to_string(file.file_nbytes()) +
                 " bytes are too many for a table of statistics"};
}

FileContent describe_table(Header header, HeaderBytes& file, const FileName&, Dumps&) {
  // SAFETY: char may alias any object.
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  auto read = StatisticsCsv::open(text, file.take_storage());
  return std::visit([](auto&& found) -> FileContent { return std::move(found); }, std::move(read));
}

// ---- npy

Match matches_npy(const HeaderBytes& file, const FileName&) {
  return certain_if(has_npy_magic(file.head()));
}

HeaderEnd npy_end(const HeaderBytes& file) {
  return npy_header_end(file.head(), file.file_nbytes());
}

// Which tensor of an operator the array is only the file's name tells.
void place_array(TensorDescription& tensor, const FileName& name) {
  if (name.io) tensor.io = *name.io;
  const std::int64_t index = name.index.value_or(0);
  if (std::in_range<std::uint32_t>(index)) tensor.index = static_cast<std::uint32_t>(index);
}

FileContent describe_array(Header header, HeaderBytes& file, const FileName& name, Dumps& reused) {
  reused.resize(1);
  describe_npy(header, file.file_nbytes(), reused.front());
  place_array(reused.front().tensors.front(), name);
  return taken(reused);
}

// ---- nano

Match matches_nano(const HeaderBytes& file, const FileName&) {
  return certain_if(has_nano_magic(file.head()));
}

HeaderEnd nano_end(const HeaderBytes& file) {
  return nano_header_end(file.head(), file.file_nbytes());
}

FileContent describe_nano_file(Header header, HeaderBytes& file, const FileName&, Dumps& reused) {
  reused.resize(1);
  describe_nano(header, file.file_nbytes(), reused.front());
  return taken(reused);
}

// ---- standard

// There is no magic: the length of the header has to make sense.
Match matches_standard(const HeaderBytes&, const FileName&) { return Match::possible; }

HeaderEnd standard_end(const HeaderBytes& file) {
  return find_standard_header_end(file.head(), file.file_nbytes());
}

FileContent describe_standard_dumps(Header header, HeaderBytes& file, const FileName& name,
                                    Dumps& reused) {
  describe_standard_file(header, file, name.thread_id, reused);
  return taken(reused);
}

// ---- inline

Match matches_version_1(const HeaderBytes& file, const FileName&) {
  if (has_version_1_mark(file.head())) return Match::certain;
  return may_be_dump_data(file.head(), file.file_nbytes()) ? Match::possible : Match::no;
}

// Headers and payloads lie in turns, all over the file.
HeaderEnd version_1_end(const HeaderBytes&) { return std::uint64_t{0}; }

FileContent describe_inline(Header, HeaderBytes& file, const FileName&, Dumps& reused) {
  reused.resize(1);
  try {
    describe_version_1(file, reused.front());
  } catch (const FormatError& error) {
    throw FormatError("inline (version 1) dump: " + std::string(error.what()), error.offset());
  }
  return taken(reused);
}

// ----

constexpr FileFormat kFormats[] = {
    {matches_statistics, statistics_end, describe_table},
    {matches_npy, npy_end, describe_array},
    {matches_nano, nano_end, describe_nano_file},
    {matches_standard, standard_end, describe_standard_dumps},
    {matches_version_1, version_1_end, describe_inline},
};

FileContent describe_as(const FileFormat& format, HeaderBytes& file, const FileName& name,
                        Dumps& reused) {
  try {
    const HeaderEnd end = format.header_end(file);
    if (const auto* refusal = std::get_if<Refusal>(&end)) return *refusal;
    const auto header = file.read(0, static_cast<std::size_t>(std::get<std::uint64_t>(end)));
    return format.describe(header, file, name, reused);
  } catch (const FormatError& error) {
    return Refusal{error.what(), error.offset()};
  }
}

}  // namespace

FileContent describe_content(HeaderBytes& file, const FileName& name,
                             std::vector<FileDescription>& reused) {
  FileContent content;
  // Why the file is not of the first format that it might have been of: there always is one.
  std::optional<Refusal> first_refusal;
  for (const FileFormat& format : kFormats) {
    const Match match = format.matches(file, name);
    if (match == Match::no) continue;
    content = describe_as(format, file, name, reused);
    auto* refusal = std::get_if<Refusal>(&content);
    if (refusal == nullptr || match == Match::certain) return content;
    if (!first_refusal) first_refusal = std::move(*refusal);
  }
  content = *std::move(first_refusal);
  return content;
}

}  // namespace fastdump
