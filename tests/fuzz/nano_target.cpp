// A nano (TLV) dump file, whose payloads may be longer than the input.
#include "core/formats/nano.hpp"

#include "choices.hpp"
#include "dump_seeds.hpp"
#include "promises.hpp"
#include "target.hpp"

namespace fastdump::fuzz {

void run(std::span<const std::byte> input) {
  Choices choices(input);
  const std::uint64_t n_more = choices.size();
  const Exact file(choices.rest());
  const std::uint64_t file_nbytes = add(file.bytes().size(), n_more);
  if (file_nbytes == kTooLarge || !has_nano_magic(file.bytes())) return;
  std::uint64_t end = 0;
  try {
    end = nano_header_end(Exact(file.bytes().first(12)).bytes(), file_nbytes);
  } catch (const FormatError& error) {
    check_refusal(error.what(), error.offset(), file_nbytes);
    return;
  }
  CHECK(end >= 8 && end <= file_nbytes);
  if (end > file.bytes().size()) return;
  const Exact header(file.bytes().first(static_cast<std::size_t>(end)));
  check_description([&](FileDescription& d) { describe_nano(header.bytes(), file_nbytes, d); },
                    file_nbytes);
}

std::vector<std::string> seeds() {
  const std::string choices(9, '\0');
  return {tests::nano_file() + choices,
          tests::nano_header(tests::nano_outputs({tests::nano_output({.shape = {2}, .size = 8})})) +
              payload(8) + choices};
}

}  // namespace fastdump::fuzz
