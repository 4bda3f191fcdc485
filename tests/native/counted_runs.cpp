// Not a test: what benchmarks/instruction_counts.py counts the instructions of. Each kernel runs
// over a block and over half of one, a scan over some files and over more of them: the difference
// has no fixed costs.
//
// usage: counted_runs DIVISOR [files], where a block is so many times shorter than a whole one.
//
// The first line on stdout names the compiler. A run is what lies between begin_count() and
// end_count(), and has a line of three fields with tabs between: its name; of how many elements,
// pairs, tensors or files it is, 0 if it is to be ignored; of how many bytes, 0 if nobody counts
// those.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aged_system.hpp"
#include "core/dtype.hpp"
#include "core/io/system.hpp"
#include "core/scan/scan_table.hpp"
#include "corpus.hpp"
#include "kernels/pair_divergence.hpp"
#include "kernels/pair_partial.hpp"
#include "kernels/partial.hpp"
#include "kernels/tiers.hpp"
#include "standard_file.hpp"
#include "temporary_directory.hpp"

// The counting tools find these by name. Each has something in it that no other function has, lest
// the compiler drop or merge them.
extern "C" {
void begin_count();
void end_count();
[[gnu::noinline]] void begin_count() { asm volatile("# begin" ::: "memory"); }
[[gnu::noinline]] void end_count() { asm volatile("# end" ::: "memory"); }
}

namespace fastdump::tests {
namespace {

using namespace fastdump::kernels;

using Bytes = std::vector<std::byte>;

template <class Run>
void count(const std::string& name, std::size_t n, std::size_t nbytes, const Run& run) {
  std::printf("%s\t%zu\t%zu\n", name.c_str(), n, nbytes);
  begin_count();
  run();
  end_count();
}

// How ordinary codes of a type look: random where `keep` has ones, `set` elsewhere.
struct Ordinary {
  std::uint64_t keep;
  std::uint64_t set;
};

// A type's elements are about 1, of both signs, or any integers.
Ordinary ordinary(Element element) {
  switch (element) {
    case Element::float16:
    case Element::complex32:
      return {0x83ff, 0x3800};
    case Element::bfloat16:
      return {0x807f, 0x3f00};
    case Element::float32:
    case Element::complex64:
      return {0x807fffff, 0x3f000000};
    case Element::float64:
    case Element::complex128:
      return {0x800fffffffffffff, 0x3fe0000000000000};
    case Element::float8_e4m3fn:
      return {0x87, 0x30};
    case Element::float8_e5m2:
      return {0x83, 0x38};
    case Element::float8_e8m0fnu:
      return {0x07, 0x78};
    case Element::hifloat8:
      return {0x87, 0x08};
    case Element::boolean:
      return {0x01, 0};
    default:
      return {~std::uint64_t{0}, 0};
  }
}

// NaN and, where the type has them, both infinities; nothing for types without NaN.
std::vector<std::uint64_t> bad_codes(Element element) {
  switch (element) {
    case Element::float16:
    case Element::complex32:
      return {0x7e00, 0x7c00, 0xfc00};
    case Element::bfloat16:
      return {0x7fc0, 0x7f80, 0xff80};
    case Element::float32:
    case Element::complex64:
      return {0x7fc00000, 0x7f800000, 0xff800000};
    case Element::float64:
    case Element::complex128:
      return {0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000};
    case Element::float8_e4m3fn:
      return {0x7f, 0xff};
    case Element::float8_e5m2:
      return {0x7e, 0x7c, 0xfc};
    case Element::float8_e8m0fnu:
      return {0xff};
    case Element::hifloat8:
      return {0x80, 0x6f, 0xef};
    default:
      return {};
  }
}

std::size_t nbytes_of(Element element, std::size_t n) {
  return n * static_cast<std::size_t>(element_bits(element)) / 8;
}

// At least n elements; each tenth of them, or of the parts of complex ones, is bad.
Bytes make_data(Element element, std::size_t n, bool with_bad) {
  const int bits = element_bits(element) / (is_complex(element) ? 2 : 1);
  const std::size_t code_nbytes = bits < 8 ? 1 : static_cast<std::size_t>(bits) / 8;
  const Ordinary pattern = ordinary(element);
  const std::vector<std::uint64_t> bad = bad_codes(element);
  Bytes data(nbytes_of(element, n) + 8);
  Random random;
  std::size_t i = 0;
  for (std::size_t at = 0; at + code_nbytes <= data.size(); at += code_nbytes, ++i) {
    std::uint64_t code = (random.next() & pattern.keep) | pattern.set;
    if (with_bad && i % 10 == 3) code = bad[i / 10 % bad.size()];
    std::memcpy(data.data() + at, &code, code_nbytes);
  }
  return data;
}

std::string_view name_of(Element element) {
  for (const DataType& type : data_types()) {
    if (type.element == element) return type.name;
  }
  return "none";
}

void count_statistics(const Tier& tier, Element element, std::size_t divisor) {
  constexpr std::string_view kLevels[kLevelCount] = {"health", "basic", "full"};
  const std::size_t n = block_elements(element) / divisor;
  const std::string type = std::string(tier.name) + " " + std::string(name_of(element)) + " ";
  for (const bool with_bad : {false, true}) {
    if (with_bad && bad_codes(element).empty()) continue;
    const Bytes data = make_data(element, n, with_bad);
    for (int l = 0; l < kLevelCount; ++l) {
      const auto level = static_cast<Level>(l);
      if (tier.reduce[static_cast<int>(element)][l] == nullptr) continue;
      const std::string name = type + std::string(kLevels[l]) + (with_bad ? ", NaN and Inf" : "");
      Partial partial;
      for (const std::size_t some : {n / 2, n}) {
        count(name, some, nbytes_of(element, some),
              [&] { partial.add(tier, element, level, data.data(), some, 0); });
      }
    }
  }
  // What does not depend on the length, and elements that fill no register.
  const Bytes data = make_data(element, 77, false);
  count(type + "basic, a tensor of 77", 1, 0, [&] {
    Partial partial;
    partial.add(tier, element, Level::basic, data.data(), 77, 0);
    partial.finish(Level::basic, element);
  });
}

// As data, with other lowest bits.
Bytes make_near(const Bytes& data) {
  Bytes near = data;
  Random random;
  for (std::size_t i = 0; i + 8 <= near.size(); i += 8) {
    near[i] ^= static_cast<std::byte>(random.next() & 3);
  }
  return near;
}

void count_comparisons(const Tier& tier, Element a, Element b, std::size_t divisor) {
  const std::size_t n = 8 * kPairBlockElements / divisor;
  std::string types = std::string(tier.name) + " " + std::string(name_of(a));
  if (a != b) types += " with " + std::string(name_of(b));
  for (const bool with_bad : {false, true}) {
    if (with_bad && bad_codes(a).empty()) continue;
    const Bytes data_a = make_data(a, n, with_bad);
    const Bytes data_b = a == b ? make_near(data_a) : make_data(b, n, false);
    const PairOperands operands = {a, b, data_a.data(), data_b.data()};
    const std::string data = with_bad ? ", NaN and Inf" : "";
    PairPartial partial;
    const auto compare = [&](std::size_t some) {
      partial.add(tier, {1e-5, 1e-8}, operands, some, 0);
    };
    compare(n);  // what it learns from the data it knows from here on
    const DivergenceRange range(partial.finish(a, b));
    PairDivergence divergence;
    const auto diverge = [&](std::size_t some) { divergence.add(tier, range, operands, some); };
    for (const std::size_t some : {n / 2, n}) {
      const std::size_t nbytes = nbytes_of(a, some) + nbytes_of(b, some);
      count(types + " compare" + data, some, nbytes, [&] { compare(some); });
      count(types + " divergence" + data, some, nbytes, [&] { diverge(some); });
    }
  }
}

void count_kernels(std::size_t divisor) {
  constexpr Element kCompared[] = {Element::float32, Element::float16, Element::bfloat16,
                                   Element::float64, Element::int8};
  for (const TierChoice& choice : compiled_tiers()) {
    if (!choice.usable) continue;
    const Tier& tier = *choice.tier;
    for (int e = 1; e < kElementCount; ++e) {
      count_statistics(tier, static_cast<Element>(e), divisor);
    }
    for (const Element element : kCompared) count_comparisons(tier, element, element, divisor);
    count_comparisons(tier, Element::float16, Element::float32, divisor);
  }
}

// One output of 224 float32: with its header a little less than 1 KiB.
std::string make_dump() {
  const Bytes payload = make_data(Element::float32, 224, false);
  const std::string header = Message()
                                 .text(1, "2.0")
                                 .text(6, "op")
                                 .message(3, output({.shape = {224}, .size = 896}))
                                 .bytes();
  std::string bytes = little_endian(header.size(), 8) + header;
  // SAFETY: bytes may be looked at as char.
  return bytes.append(reinterpret_cast<const char*>(payload.data()), 896);
}

constexpr std::size_t kNumbersOfFiles[] = {400, 1200};

void write_files(const TemporaryDirectory& directory) {
  const std::string dump = make_dump();
  for (const std::size_t n : kNumbersOfFiles) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::string op_name = "model_layer_" + std::to_string(i % 40) + "_mlp";
      directory.write(std::to_string(n) + "/MatMul." + op_name + "." + std::to_string(i) + ".2." +
                          std::to_string(1700000000000000 + i),
                      dump);
    }
  }
}

// Of the folder of n files.
void count_scan(const TemporaryDirectory& directory, std::size_t n, std::optional<Level> level,
                bool is_first) {
  const std::string what = level ? "basic" : "headers";
  ScanOptions options;
  options.level = level;
  options.parallelism = {1, 1};  // how many more threads pay depends on the time it takes
  Scan scan({directory.path() / std::to_string(n)}, options);
  count("file of 1 KiB, " + what, is_first ? 0 : n, 0, [&] {
    scan.start();
    while (!scan.wait_for(std::chrono::hours(1))) {
    }
  });
  if (scan.progress().files_done != n) throw std::runtime_error("not all files were read");
  count("file of 1 KiB, table of " + what, is_first ? 0 : n, 0, [&] { make_table(scan); });
}

void count_scans() {
  AgedSystem aged;
  const SystemReplacement replacement(aged);
  const TemporaryDirectory directory;
  write_files(directory);
  // callgrind ascribes the system calls of all that was before to the first run with a thread.
  count_scan(directory, kNumbersOfFiles[0], std::nullopt, true);
  for (const std::optional<Level> level : {std::optional<Level>(), std::optional(Level::basic)}) {
    for (const std::size_t n : kNumbersOfFiles) count_scan(directory, n, level, false);
  }
}

}  // namespace
}  // namespace fastdump::tests

int main(int argc, char** argv) {
  const long divisor = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
  const bool files = argc == 3 && std::string_view(argv[2]) == "files";
  if (divisor < 1 || argc != (files ? 3 : 2)) {
    std::fputs("usage: counted_runs DIVISOR [files]\n", stderr);
    return 2;
  }
#if defined(__clang__)
  std::puts("clang " __clang_version__);
#else
  std::puts("GCC " __VERSION__);
#endif
  try {
    fastdump::tests::count_kernels(static_cast<std::size_t>(divisor));
    if (files) fastdump::tests::count_scans();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
