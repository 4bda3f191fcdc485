#include "kernels/partial.hpp"

#include <algorithm>
#include <cmath>

namespace fastdump::kernels {

void Partial::add(const Tier& tier, Element element, Level level, const std::byte* data,
                  std::size_t n, std::uint64_t first_index) {
  const BlockFunction reduce = tier.reduce[static_cast<int>(element)][static_cast<int>(level)];
  if (reduce == nullptr) {
    counts_.count += n;
    counts_.finite += n;
    return;
  }
  const NumberKind kind = number_kind(element);
  const std::size_t whole = block_elements(element);
  const std::size_t block_bytes = whole / 8 * static_cast<std::size_t>(element_bits(element));
  Block block;
  for (std::size_t done = 0; done < n; done += whole, data += block_bytes) {
    const std::size_t block_n = std::min(n - done, whole);
    reduce(data, block_n, block);
    add(block, level, kind, block_n, first_index + done);
  }
}

void Partial::add(Block& block, Level level, NumberKind kind, std::size_t n,
                  std::uint64_t first_index) {
  const std::uint64_t bad = block.nan + block.pos_inf + block.neg_inf;
  if (level != Level::health) {
    sum_.add(block.sum, block.sum_exponent);
    sum_squares_.add(block.sum_squares, block.squares_exponent);
    if (bad < n) add_extremes(block.max, block.min, kind);
  }
  counts_.count += n;
  counts_.finite += n - bad;
  counts_.nan += block.nan;
  counts_.pos_inf += block.pos_inf;
  counts_.neg_inf += block.neg_inf;
  if (level != Level::full) return;
  counts_.zero += block.zero;
  counts_.subnormal += block.subnormal;
  counts_.saturated += block.saturated;
  add_min_abs(block.min_abs);
  if (block.first_bad >= 0) {
    const auto index = static_cast<std::int64_t>(first_index) + block.first_bad;
    if (counts_.first_bad < 0 || index < counts_.first_bad) counts_.first_bad = index;
  }
}

// Called before the new elements are counted.
void Partial::add_extremes(Number max, Number min, NumberKind kind) {
  if (counts_.finite == 0) {
    counts_.max = max;
    counts_.min = min;
    return;
  }
  switch (kind) {
    case NumberKind::f64:
      counts_.max.f64 = std::max(counts_.max.f64, max.f64);
      counts_.min.f64 = std::min(counts_.min.f64, min.f64);
      break;
    case NumberKind::i64:
      counts_.max.i64 = std::max(counts_.max.i64, max.i64);
      counts_.min.i64 = std::min(counts_.min.i64, min.i64);
      break;
    case NumberKind::u64:
      counts_.max.u64 = std::max(counts_.max.u64, max.u64);
      counts_.min.u64 = std::min(counts_.min.u64, min.u64);
      break;
  }
}

void Partial::add_min_abs(double min_abs) {
  if (min_abs == 0) return;
  counts_.min_abs = counts_.min_abs == 0 ? min_abs : std::min(counts_.min_abs, min_abs);
}

void Partial::add(const Partial& other, Element element) {
  const Statistics& from = other.counts_;
  if (from.finite != 0) add_extremes(from.max, from.min, number_kind(element));
  counts_.count += from.count;
  counts_.finite += from.finite;
  counts_.nan += from.nan;
  counts_.pos_inf += from.pos_inf;
  counts_.neg_inf += from.neg_inf;
  counts_.zero += from.zero;
  counts_.subnormal += from.subnormal;
  counts_.saturated += from.saturated;
  add_min_abs(from.min_abs);
  if (from.first_bad >= 0 && (counts_.first_bad < 0 || from.first_bad < counts_.first_bad)) {
    counts_.first_bad = from.first_bad;
  }
  sum_.add(other.sum_);
  sum_squares_.add(other.sum_squares_);
}

void Partial::clear() {
  counts_ = Statistics{};
  sum_.clear();
  sum_squares_.clear();
}

Statistics Partial::finish(Level level, Element element) const {
  Statistics statistics = counts_;
  if (level == Level::health || statistics.finite == 0) return statistics;
  if (number_kind(element) == NumberKind::f64) {
    statistics.max.f64 += 0.0;
    statistics.min.f64 += 0.0;
  }
  // Sums of float64 values may leave the range although mean and norm do not: scaled by powers of
  // two that the division and the root take back.
  constexpr int kDown = 64;
  const auto n = static_cast<double>(statistics.finite);
  const double sum = sum_.value();
  statistics.mean = std::isfinite(sum) ? sum / n : std::ldexp(sum_.value(-kDown) / n, kDown);
  const double squares = sum_squares_.value();
  if (std::isfinite(squares) && squares > 0x1p-900) {
    statistics.l2norm = std::sqrt(squares);
  } else {
    const int half = std::isfinite(squares) ? -ExactSum::kScaleExponent : ExactSum::kScaleExponent;
    statistics.l2norm = std::ldexp(std::sqrt(sum_squares_.value(-2 * half)), half);
  }
  return statistics;
}

}  // namespace fastdump::kernels
