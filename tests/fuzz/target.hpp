// What a fuzz target is: something of the core that must keep its promises whatever bytes it is
// given. Each file *_target.cpp defines the functions below; libfuzzer.cpp makes a fuzzer of it,
// replay.cpp a test that needs no fuzzer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace fastdump::fuzz {

// Checks all promises, with CHECK, for one input. An exception that escapes is a finding.
void run(std::span<const std::byte> input);

// Where to begin: inputs as small as they can be that reach what is to be tested.
std::vector<std::string> seeds();

// Bytes in memory of their own, which ends where they end: a sanitizer sees any look beyond.
class Exact {
 public:
  explicit Exact(std::span<const std::byte> bytes)
      : size_(bytes.size()), bytes_(std::make_unique<std::byte[]>(size_)) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
  }
  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  // SAFETY: char may alias any object.
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.get()), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace fastdump::fuzz
