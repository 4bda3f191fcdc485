// A .npy file, whose elements may be more than the input holds.
#include "core/formats/npy.hpp"

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
  if (file_nbytes == kTooLarge || !has_npy_magic(file.bytes())) return;
  if (file.bytes().size() < 12) return;
  std::uint64_t end = 0;
  try {
    end = npy_header_end(Exact(file.bytes().first(12)).bytes(), file_nbytes);
  } catch (const FormatError& error) {
    check_refusal(error.what(), error.offset(), file_nbytes);
    return;
  }
  CHECK(end <= file_nbytes);
  if (end > file.bytes().size()) return;
  const Exact header(file.bytes().first(static_cast<std::size_t>(end)));
  check_description([&](FileDescription& d) { describe_npy(header.bytes(), file_nbytes, d); },
                    file_nbytes);
}

std::vector<std::string> seeds() {
  const auto file = [](const char* type, const char* shape, unsigned major) {
    return tests::npy_header(tests::npy_text(type, shape), major) + payload(16) +
           std::string(9, '\0');
  };
  return {npy_seed() + std::string(9, '\0'), file("|b1", "()", 1), file(">c16", "(1,)", 2),
          file("<i8", "(2, 1, 1)", 3), file("<V2", "(8,)", 1)};
}

}  // namespace fastdump::fuzz
