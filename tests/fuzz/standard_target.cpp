// A standard dump file, whose payloads may be longer than the input.
#include "core/formats/standard.hpp"

#include "choices.hpp"
#include "dump_seeds.hpp"
#include "promises.hpp"
#include "target.hpp"

namespace fastdump::fuzz {

void run(std::span<const std::byte> input) {
  Choices choices(input);
  const std::uint64_t n_more = choices.size();
  const std::uint8_t thread = choices.byte();
  const auto thread_id = thread < 0xF0 ? std::nullopt : std::optional<std::int64_t>(thread - 0xF0);
  const Exact file(choices.rest());
  const std::uint64_t file_nbytes = add(file.bytes().size(), n_more);
  if (file_nbytes == kTooLarge) return;
  const std::size_t n_head = std::min(kMinHeadBytes, file.bytes().size());
  const auto found =
      find_standard_header_end(Exact(file.bytes().first(n_head)).bytes(), file_nbytes);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    check_refusal(refusal->what, refusal->offset, file_nbytes);
    return;
  }
  const auto end = std::get<std::uint64_t>(found);
  CHECK(end >= 8 && end <= file_nbytes);
  if (end > file.bytes().size()) return;
  // A header is described from memory that ends with it.
  const Exact header(file.bytes().first(static_cast<std::size_t>(end)));
  check_description(
      [&](FileDescription& description) {
        const auto last = describe_standard(header.bytes(), file_nbytes, thread_id, description);
        CHECK(last >= end && last <= file_nbytes);
      },
      file_nbytes);
}

std::vector<std::string> seeds() {
  const std::string choices(10, '\0');
  return {standard_seed() + choices, small_standard_seed() + choices,
          standard_seed() + '\xf1' + '\0'};
}

}  // namespace fastdump::fuzz
