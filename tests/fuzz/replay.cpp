// A target without a fuzzer, for every compiler and sanitizer: runs the seeds, and of each of them
// so many mutations, which are the same on every machine.
//
//   replay_TARGET [MUTATIONS]    the seeds, with 1000 mutations of each unless told otherwise
//   replay_TARGET FILE...        these inputs: what a fuzzer has found
//   replay_TARGET --write DIR    writes the seeds, for a fuzzer to begin with
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes_mutator.hpp"
#include "target.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FASTDUMP_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FASTDUMP_SANITIZED
#endif
#endif
#if defined(FASTDUMP_SANITIZED)
#include <sanitizer/common_interface_defs.h>
#endif

// Of dump_mutator.cpp or plain_mutator.cpp.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed);
// What libFuzzer has for such mutators to call.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_size) {
  static fastdump::tests::Random random;
  return fastdump::fuzz::mutate_bytes(data, size, max_size, random);
}

namespace fastdump::fuzz {
namespace {

constexpr std::size_t kMaxNbytes = 4096;

std::string current;  // the input that is run

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

void save_current() {
  write_file("finding", current);
  std::fputs("the input is in the file \"finding\"\n", stderr);
}

void run_input(std::string_view input) {
  current = input;
  run(std::as_bytes(std::span(current)));
  if (tests::n_failures == 0) return;
  save_current();
  std::exit(EXIT_FAILURE);
}

std::string mutated(const std::string& seed, unsigned int number) {
  std::string bytes = seed.substr(0, kMaxNbytes);
  std::size_t size = bytes.size();
  bytes.resize(kMaxNbytes);
  // SAFETY: unsigned char may alias any object.
  auto* data = reinterpret_cast<std::uint8_t*>(bytes.data());
  for (unsigned int n = 0; n <= number % 4; ++n) {
    size = LLVMFuzzerCustomMutator(data, size, kMaxNbytes, number * 4 + n);
  }
  bytes.resize(size);
  return bytes;
}

void run_seeds(unsigned int n_mutations) {
  run_input({});
  const std::vector<std::string> all = seeds();
  for (const std::string& seed : all) {
    run_input(seed);
    for (unsigned int i = 0; i < n_mutations; ++i) run_input(mutated(seed, i));
  }
  std::fprintf(stderr, "%zu seeds, %u mutations of each\n", all.size(), n_mutations);
}

void run_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  run_input(std::string(std::istreambuf_iterator<char>(file), {}));
}

void write_seeds(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  std::size_t number = 0;
  for (const std::string& seed : seeds()) {
    write_file(directory / ("seed-" + std::to_string(number++)), seed);
  }
}

unsigned int parse_number(std::string_view text) {
  unsigned int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

int run_with(std::span<char*> arguments) {
  if (arguments.size() == 2 && std::string_view(arguments[0]) == "--write") {
    write_seeds(arguments[1]);
    return EXIT_SUCCESS;
  }
#if defined(FASTDUMP_SANITIZED)
  __sanitizer_set_death_callback(save_current);
#endif
  if (arguments.empty()) {
    run_seeds(1000);
  } else if (const unsigned int n = parse_number(arguments[0]); n != 0) {
    run_seeds(n);
  } else {
    for (const char* path : arguments) run_file(path);
    return EXIT_SUCCESS;
  }
  return tests::exit_code();
}

}  // namespace
}  // namespace fastdump::fuzz

int main(int argc, char** argv) {
  return fastdump::fuzz::run_with(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
