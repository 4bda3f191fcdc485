// Prints a line for each tier that this CPU can run, element type and level: a hash of every bit of
// the statistics of a fixed corpus. Two machines, or two tiers, agree if their lines do. The tier's
// name comes last, so that lines without it can be compared.
#include <cstdio>

#include "corpus.hpp"
#include "kernels/partial.hpp"
#include "kernels/tiers.hpp"

namespace {

using namespace fastdump::kernels;

class Hash {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      state_ = (state_ ^ (value >> shift & 0xff)) * 0x100000001b3;
  }
  void add(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, 8);
    add(bits);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

void add(Hash& hash, const Statistics& statistics) {
  hash.add(statistics.count);
  hash.add(statistics.finite);
  if (statistics.finite != 0) {
    hash.add(statistics.max.u64);  // the bits, whatever the kind
    hash.add(statistics.min.u64);
  }
  hash.add(statistics.mean);
  hash.add(statistics.l2norm);
  for (const std::uint64_t count : {statistics.nan, statistics.pos_inf, statistics.neg_inf,
                                    statistics.zero, statistics.subnormal, statistics.saturated}) {
    hash.add(count);
  }
  hash.add(static_cast<std::uint64_t>(statistics.first_bad));
}

std::uint64_t digest(const Tier& tier, Element element, Level level) {
  Hash hash;
  for (const fastdump::tests::Sample& sample : fastdump::tests::make_corpus()) {
    for (const std::size_t n : fastdump::tests::make_lengths(element)) {
      Partial partial;
      partial.add(tier, element, level, sample.bytes.data(), n, 0);
      add(hash, partial.finish(level, element));
    }
  }
  return hash.value();
}

}  // namespace

int main() {
  for (const TierChoice& choice : compiled_tiers()) {
    if (!choice.usable) continue;
    for (int element = 1; element < kElementCount; ++element) {
      for (int level = 0; level < kLevelCount; ++level) {
        const std::uint64_t hash =
            digest(*choice.tier, static_cast<Element>(element), static_cast<Level>(level));
        std::printf("element %2d level %d %016llx %s\n", element, level,
                    static_cast<unsigned long long>(hash), choice.tier->name);
      }
    }
  }
  return 0;
}
