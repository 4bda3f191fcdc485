// What every description of a file keeps, besides what tests/native/invariants.hpp checks: texts
// have an end, and the same bytes give the same, whatever memory the description had before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/dump_data.hpp"
#include "core/formats/refusal.hpp"
#include "invariants.hpp"
#include "same_description.hpp"

namespace fastdump::fuzz {

// A note that is cut says so, in some more bytes.
inline constexpr std::size_t kMaxNoteNbytes = Note::kMaxNbytes + 64;
// What is wrong with a file is said in a line, whatever the file holds.
inline constexpr std::size_t kMaxRefusalNbytes = 1024;

inline void check_texts(const FileDescription& d) {
  CHECK(d.op_name.size() <= kMaxNameNbytes);
  CHECK(d.note.text().size() <= kMaxNoteNbytes);
  CHECK(d.header_note.text().size() <= kMaxNoteNbytes);
  for (const TensorDescription& t : d.tensors) CHECK(t.note.text().size() <= kMaxNoteNbytes);
}

inline void check_refusal(std::string_view what, std::uint64_t offset, std::uint64_t file_nbytes) {
  CHECK(!what.empty() && what.size() <= kMaxRefusalNbytes);
  CHECK(offset <= file_nbytes);
  CHECK(std::ranges::all_of(what, [](char c) { return c >= ' ' && c <= '~'; }));
}

// `describe` fills a description, or throws a FormatError. Twice, the second time into what another
// file has left.
template <class Describe>
void check_description(Describe describe, std::uint64_t file_nbytes) {
  FileDescription once;
  std::string refused;
  try {
    describe(once);
    tests::check_invariants(once, file_nbytes);
    check_texts(once);
  } catch (const FormatError& error) {
    refused = error.what();
    check_refusal(refused, error.offset(), file_nbytes);
  }
  FileDescription again;
  again.tensors.resize(3);
  again.tensors[0].shape = {7, 8};
  again.tensors[1].note.add("of another file");
  again.attrs.resize(2, {"name", "value"});
  again.slices.resize(1);
  again.original_ops.resize(1);
  again.op_name = again.version = again.dfx_message = "of another file";
  again.fortran_order = true;
  again.note.add("of another file");
  try {
    describe(again);
    CHECK(refused.empty());
    CHECK(is_same(once, again));
  } catch (const FormatError& error) {
    CHECK_EQ(error.what(), refused);
  }
}

}  // namespace fastdump::fuzz
