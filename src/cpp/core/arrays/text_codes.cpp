#include "core/arrays/text_codes.hpp"

#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace fastdump {
namespace {

__extension__ using Uint128 = unsigned __int128;  // GCC and clang have it, the standard does not

// Both halves of a product: every bit of the arguments changes half of the result's.
std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t hashed = folded(seed ^ text.size(), kOdd);
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    hashed = folded(hashed ^ word, seed);
  }
  word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return folded(hashed ^ word, kOdd);
}

// Another one each time, so that nobody can write names that all collide.
std::uint64_t make_seed() {
  static const char where = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(&where);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return folded(address, static_cast<std::uint64_t>(now)) | 1;
}

// The numbers of texts that were met, by open addressing. A std::unordered_map would allocate a
// node for each text, and its hash is known: names in a hostile dump could be made to collide.
class Numbers {
 public:
  // The number of a text; the next one if it is new. text_of(number) is the text of an old one.
  template <class TextOf>
  std::int32_t find_or_add(std::string_view text, const TextOf& text_of) {
    if (2 * (hashes_.size() + 1) > slots_.size()) grow();
    const std::uint64_t hashed = hash(text, seed_);
    std::size_t i = hashed & mask();
    for (; slots_[i] != kNullCode; i = (i + 1) & mask()) {
      const std::int32_t number = slots_[i];
      if (hashes_[static_cast<std::size_t>(number)] == hashed && text_of(number) == text) {
        return number;
      }
    }
    slots_[i] = static_cast<std::int32_t>(hashes_.size());
    hashes_.push_back(hashed);
    return slots_[i];
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  void grow() {
    std::vector<std::int32_t> slots(2 * slots_.size(), kNullCode);
    slots_.swap(slots);
    for (std::size_t number = 0; number < hashes_.size(); ++number) {
      std::size_t i = hashes_[number] & mask();
      while (slots_[i] != kNullCode) i = (i + 1) & mask();
      slots_[i] = static_cast<std::int32_t>(number);
    }
  }

  const std::uint64_t seed_ = make_seed();
  std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(64, kNullCode);
  std::vector<std::uint64_t> hashes_;  // by number
};

template <class End>
std::vector<std::int64_t> code_all(std::span<const End> ends, std::span<const std::byte> bytes,
                                   std::span<const std::uint8_t> is_null,
                                   std::span<std::int32_t> codes) {
  if (ends.size() != codes.size() + 1 || (!is_null.empty() && is_null.size() != codes.size())) {
    throw std::invalid_argument("there is one end more than texts, and a flag for each");
  }
  if (codes.size() > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("these are more texts than 32-bit numbers can tell");
  }
  const auto* data = reinterpret_cast<const char*>(bytes.data());
  const auto text_at = [&](std::size_t i) {
    // No offset is below the first: they were seen not to fall.
    const auto begin = static_cast<std::size_t>(ends[i] - ends[0]);
    return std::string_view(data + begin, static_cast<std::size_t>(ends[i + 1] - ends[i]));
  };
  if (ends[0] < 0) throw std::invalid_argument("an end is negative");
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (ends[i + 1] < ends[i]) throw std::invalid_argument("ends of texts fall");
  }
  if (static_cast<std::uint64_t>(ends.back() - ends[0]) > bytes.size()) {
    throw std::invalid_argument("texts end behind their bytes");
  }

  Numbers numbers;
  std::vector<std::int64_t> first_rows;
  struct Known {
    std::string_view text;
    std::int32_t code = kNullCode;  // none yet
  };
  Known last, before;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (!is_null.empty() && is_null[i] != 0) {
      codes[i] = kNullCode;
      continue;
    }
    const std::string_view text = text_at(i);
    // Most rows have the text of the row before, or of the one before that: inputs and outputs.
    if (last.code == kNullCode || text != last.text) {
      std::swap(last, before);
      if (last.code == kNullCode || text != last.text) {
        last.text = text;
        last.code = numbers.find_or_add(text, [&](std::int32_t number) {
          return text_at(static_cast<std::size_t>(first_rows[static_cast<std::size_t>(number)]));
        });
        const bool is_new = static_cast<std::size_t>(last.code) == first_rows.size();
        if (is_new) first_rows.push_back(static_cast<std::int64_t>(i));
      }
    }
    codes[i] = last.code;
  }
  return first_rows;
}

}  // namespace

std::vector<std::int64_t> code_texts(std::span<const std::int32_t> ends,
                                     std::span<const std::byte> bytes,
                                     std::span<const std::uint8_t> is_null,
                                     std::span<std::int32_t> codes) {
  return code_all(ends, bytes, is_null, codes);
}

std::vector<std::int64_t> code_texts(std::span<const std::int64_t> ends,
                                     std::span<const std::byte> bytes,
                                     std::span<const std::uint8_t> is_null,
                                     std::span<std::int32_t> codes) {
  return code_all(ends, bytes, is_null, codes);
}

}  // namespace fastdump
