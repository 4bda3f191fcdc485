// A target as libFuzzer wants it: a check that fails ends the process.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t nbytes) {
  fastdump::fuzz::run(std::as_bytes(std::span(data, nbytes)));
  if (fastdump::tests::n_failures > 0) std::abort();
  return 0;
}
