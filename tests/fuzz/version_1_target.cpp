// A dump file that is one message with its payloads.
#include "core/formats/version_1.hpp"

#include "dump_seeds.hpp"
#include "promises.hpp"
#include "served_file.hpp"
#include "target.hpp"

namespace fastdump::fuzz {

void run(std::span<const std::byte> input) {
  const std::size_t n = input.size();
  has_version_1_mark(Exact(input.first(std::min<std::size_t>(n, 3))).bytes());
  for (const std::size_t n_head : {n, std::min<std::size_t>(n, 12)}) {
    check_description(
        [&](FileDescription& description) {
          ServedFile file(input, n_head);
          describe_version_1(file, description);
          CHECK(!description.tensors.empty());
        },
        n);
  }
  // A file that has become shorter is never described as if it had not.
  if (n <= 12) return;
  ServedFile file(input, 12);
  file.shrink(n - 1);
  FileDescription description;
  try {
    describe_version_1(file, description);
    CHECK(false);
  } catch (const FormatError&) {
  }
}

std::vector<std::string> seeds() { return {inline_seed(), full_header().bytes()}; }

}  // namespace fastdump::fuzz
