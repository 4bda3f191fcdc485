// A file of any format and any name, whose first bytes are at hand while the others are read, and
// which may become shorter meanwhile.
#include <array>

#include "choices.hpp"
#include "core/formats/file_format.hpp"
#include "core/formats/file_name.hpp"
#include "dump_seeds.hpp"
#include "promises.hpp"
#include "served_file.hpp"
#include "target.hpp"

namespace fastdump::fuzz {
namespace {

constexpr std::array<std::string_view, 8> kNames = {
    "Add.a.1.2.1700000000000000",
    "Add.a.1.2.1700000000000000.4.11.1.0",
    "9134657216587341217",
    "Add.a.1.2.1700000000000000.csv",
    "Add.a.1.2.1700000000000000.output.3.npy",
    "Opdebug.Node_OpDebug.1.2.1700000000000000",
    "exception_info.1.2.20260101120000123",
    "whatever",
};

// Zeros that follow the bytes, as in a file with a hole: a few, or more than any format is read of.
// What lies between is only slow.
std::uint64_t hole_nbytes(std::uint64_t chosen) {
  constexpr std::uint64_t kFew = std::uint64_t{1} << 16;
  return chosen < kFew ? chosen : kMaxStatisticsBytes + 1 + chosen % (std::uint64_t{1} << 40);
}

// What was found, in words that are equal if, and only if, it is the same.
struct Found {
  std::string refused;
  std::vector<FileDescription> dumps;
};

Found describe(HeaderBytes& file, const FileName& name) {
  std::vector<FileDescription> reused(2);
  FileContent content = describe_content(file, name, reused);
  Found found;
  if (auto* tensors = std::get_if<DumpedTensors>(&content)) {
    found.dumps = std::move(tensors->dumps);
    tests::check_invariants(found.dumps, file.file_nbytes());
  } else if (auto* csv = std::get_if<StatisticsCsv>(&content)) {
    found.dumps.push_back(describe_statistics(std::move(*csv), file.file_nbytes()));
  } else {
    const auto& refusal = std::get<Refusal>(content);
    check_refusal(refusal.what, refusal.offset, file.file_nbytes());
    found.refused = refusal.what;
  }
  for (const FileDescription& dump : found.dumps) check_texts(dump);
  return found;
}

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices(input);
  const FileName name = parse_file_name(choices.of(kNames));
  const bool shrinks = choices.flag();
  const std::uint64_t n_zeros = choices.flag() ? hole_nbytes(choices.size()) : 0;
  const std::uint64_t n_left = choices.size();
  const auto bytes = choices.rest();
  ServedFile whole(bytes, bytes.size(), n_zeros);
  const Found found = describe(whole, name);
  // A scan has at least so many bytes at hand.
  const std::size_t n_head = std::min<std::size_t>(bytes.size(), 1024);
  ServedFile served(bytes, n_head, n_zeros);
  if (shrinks) served.shrink(n_left);
  const Found again = describe(served, name);
  if (shrinks) return;
  CHECK_EQ(again.refused, found.refused);
  CHECK(are_same(again.dumps, found.dumps));
}

std::vector<std::string> seeds() {
  std::vector<std::string> inputs;
  for (const std::string& file : dump_seeds()) inputs.push_back(file + std::string(4, '\0'));
  inputs[3] += '\x04';  // of the name of a converted file
  inputs[5] += '\x03';
  return inputs;
}

}  // namespace fastdump::fuzz
