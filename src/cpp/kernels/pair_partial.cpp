#include "kernels/pair_partial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fastdump::kernels {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// x * y * 2^exponent, exactly.
void add_product(ExactSum& sum, double x, double y, int exponent) {
  const double product = x * y;
  sum.add(product, exponent);
  sum.add(std::fma(x, y, -product), exponent);
}

// A sum divided by n, also where only the quotient is in range.
double quotient(const ExactSum& sum, double n) {
  constexpr int kDown = 64;
  const double value = sum.value();
  return std::isfinite(value) ? value / n : std::ldexp(sum.value(-kDown) / n, kDown);
}

// A sum of squares as significand * 4^exponent, with a significand from 1/4 to 1.
struct Squares {
  double significand;
  int exponent;

  explicit Squares(const ExactSum& sum) {
    const double value = sum.value();
    int half = 0;
    if (!std::isfinite(value)) half = ExactSum::kScaleExponent;
    if (value < 0x1p-900) half = -ExactSum::kScaleExponent;
    significand = std::frexp(sum.value(-2 * half), &exponent);
    if (exponent % 2 != 0) {
      significand /= 2;
      ++exponent;
    }
    exponent = exponent / 2 + half;
  }

  double root() const { return std::ldexp(std::sqrt(significand), exponent); }
};

double cosine(const ExactSum& products, const Squares& a, const Squares& b) {
  const bool no_a = a.root() <= kEpsilon;
  const bool no_b = b.root() <= kEpsilon;
  if (no_a && no_b) return 1;
  if (no_a || no_b) return std::numeric_limits<double>::quiet_NaN();
  const double product = products.value(-(a.exponent + b.exponent));
  return std::clamp(product / std::sqrt(a.significand * b.significand), -1.0, 1.0);
}

bool is_before(std::int64_t index, std::int64_t other) { return other < 0 || index < other; }

}  // namespace

void PairPartial::add(const Tier& tier, const Tolerance& tolerance, PairOperands operands,
                      std::size_t n, std::uint64_t first_index) {
  constexpr std::size_t kWhole = kPairBlockElements;
  PairBlock block;
  for (std::size_t done = 0; done < n; done += kWhole) {
    const std::size_t block_n = std::min(n - done, kWhole);
    tier.pairs.compare(operands, block_n, tolerance, expect_bad_, block);
    add(block, block_n);
    place(tier, tolerance, operands, block, block_n, first_index + done);
    operands.data_a += kWhole / 8 * static_cast<std::size_t>(element_bits(operands.a));
    operands.data_b += kWhole / 8 * static_cast<std::size_t>(element_bits(operands.b));
  }
}

void PairPartial::add(const PairBlock& block, std::size_t n) {
  const std::uint64_t bad = block.only_a_bad + block.only_b_bad + block.both_bad;
  const std::size_t finite = n - bad;
  expect_bad_ = bad != 0;
  if (finite != 0) {
    a_.add(block.a, finite, totals_.finite == 0);
    b_.add(block.b, finite, totals_.finite == 0);
    products_.add(block.products, block.a.exponent + block.b.exponent);
    error_.add(block.error_sum, block.error_exponent);
    error_squares_.add(block.error_squares, 2 * block.error_exponent);
    relative_.add(block.relative_sum, block.relative_exponent);
    const double relative = std::ldexp(block.relative_max, block.relative_exponent);
    totals_.max_rel_error = std::max(totals_.max_rel_error, relative);
  }
  totals_.bit_equal &= block.same_bits;
  totals_.ulp_max = std::max(totals_.ulp_max, block.ulp_max);
  totals_.count += n;
  totals_.finite += finite;
  totals_.mismatched += block.mismatched;
  totals_.only_a_bad += block.only_a_bad;
  totals_.only_b_bad += block.only_b_bad;
  totals_.both_bad += block.both_bad;
}

// Where the first mismatch and the largest error are, if this block changes that.
void PairPartial::place(const Tier& tier, const Tolerance& tolerance, const PairOperands& operands,
                        PairBlock block, std::size_t n, std::uint64_t first_index) {
  const auto first = static_cast<std::int64_t>(first_index);
  const bool any_finite = n != block.only_a_bad + block.only_b_bad + block.both_bad;
  const double error = any_finite ? std::ldexp(block.error_max, block.error_exponent) : 0;
  const bool seek_error =
      error > totals_.max_abs_error ||
      (error == totals_.max_abs_error && is_before(first, totals_.max_abs_error_index));
  if (!is_before(first, totals_.first_mismatch)) block.mismatched = 0;
  if (!seek_error) block.error_max = 0;
  if (block.mismatched == 0 && block.error_max == 0) return;
  const PairPlaces places = tier.pairs.locate(operands, n, tolerance, block);
  if (places.mismatch >= 0) totals_.first_mismatch = first + places.mismatch;
  if (places.error_max < 0) return;
  totals_.max_abs_error = error;
  totals_.max_abs_error_index = first + places.error_max;
}

void PairPartial::add(const PairPartial& other) {
  const PairStatistics& from = other.totals_;
  if (from.finite != 0) {
    a_.add(other.a_, totals_.finite == 0);
    b_.add(other.b_, totals_.finite == 0);
  }
  products_.add(other.products_);
  error_.add(other.error_);
  error_squares_.add(other.error_squares_);
  relative_.add(other.relative_);
  if (from.max_abs_error_index >= 0 &&
      (from.max_abs_error > totals_.max_abs_error ||
       (from.max_abs_error == totals_.max_abs_error &&
        is_before(from.max_abs_error_index, totals_.max_abs_error_index)))) {
    totals_.max_abs_error = from.max_abs_error;
    totals_.max_abs_error_index = from.max_abs_error_index;
  }
  if (from.first_mismatch >= 0 && is_before(from.first_mismatch, totals_.first_mismatch)) {
    totals_.first_mismatch = from.first_mismatch;
  }
  totals_.max_rel_error = std::max(totals_.max_rel_error, from.max_rel_error);
  totals_.count += from.count;
  totals_.finite += from.finite;
  totals_.mismatched += from.mismatched;
  totals_.only_a_bad += from.only_a_bad;
  totals_.only_b_bad += from.only_b_bad;
  totals_.both_bad += from.both_bad;
  totals_.ulp_max = std::max(totals_.ulp_max, from.ulp_max);
  totals_.bit_equal &= from.bit_equal;
}

void PairPartial::clear() {
  for (Side* side : {&a_, &b_}) {
    side->sum.clear();
    side->squares.clear();
  }
  for (ExactSum* sum : {&products_, &error_, &error_squares_, &relative_}) sum->clear();
  totals_ = PairStatistics{};
  expect_bad_ = false;
}

PairStatistics PairPartial::finish(Element a, Element b) const {
  PairStatistics statistics = totals_;
  statistics.has_ulp_max = a == b && !is_complex(a);
  statistics.bit_equal = a == b && statistics.bit_equal;
  if (statistics.finite == 0) return statistics;
  const auto n = static_cast<double>(statistics.finite);
  statistics.a = a_.finish(n);
  statistics.b = b_.finish(n);
  const Squares squares_a(a_.squares);
  const Squares squares_b(b_.squares);
  const Squares error_squares(error_squares_);
  const bool alike = statistics.count == 1 || statistics.max_abs_error_index < 0;
  statistics.cosine_similarity = alike ? 1 : cosine(products_, squares_a, squares_b);
  statistics.mean_abs_error = quotient(error_, n);
  statistics.rmse = std::ldexp(std::sqrt(error_squares.significand / n), error_squares.exponent);
  if (squares_b.root() > kEpsilon) {
    statistics.relative_euclidean_distance =
        std::ldexp(std::sqrt(error_squares.significand / squares_b.significand),
                   error_squares.exponent - squares_b.exponent);
  }
  statistics.accumulated_relative_error = relative_.value();
  statistics.mean_rel_error = quotient(relative_, n);
  // Of integers that float64 holds the error is the distance.
  const bool small_integers = number_kind(a) != NumberKind::f64 && element_bits(a) < 64;
  if (statistics.has_ulp_max && small_integers) {
    statistics.ulp_max = static_cast<std::uint64_t>(statistics.max_abs_error);
  }
  return statistics;
}

void PairPartial::Side::add(const PairSide& block, std::size_t n, bool first) {
  const int exponent = block.exponent;
  sum.add(block.sum, exponent);
  squares.add(block.squares, 2 * exponent);
  if (block.pivot != 0) {
    // Back from sums about the pivot, whose square float64 holds.
    const auto times = static_cast<double>(n);
    add_product(sum, times, block.pivot, exponent);
    add_product(squares, 2 * block.pivot, block.sum, 2 * exponent);
    add_product(squares, times, block.pivot * block.pivot, 2 * exponent);
  }
  max = first ? block.max : std::max(max, block.max);
  min = first ? block.min : std::min(min, block.min);
}

void PairPartial::Side::add(const Side& other, bool first) {
  sum.add(other.sum);
  squares.add(other.squares);
  max = first ? other.max : std::max(max, other.max);
  min = first ? other.min : std::min(min, other.min);
}

SideStatistics PairPartial::Side::finish(double n) const {
  SideStatistics statistics;
  statistics.max = max + 0.0;  // never -0: which of two zeros is larger is anybody's guess
  statistics.min = min + 0.0;
  if (max == min) {
    statistics.mean = statistics.max;
    return statistics;
  }
  statistics.mean = quotient(sum, n);
  const double largest = std::max(max, -min);
  int exponent = 0;
  if (largest > 0x1p480) exponent = ExactSum::kScaleExponent;
  if (largest < 0x1p-440) exponent = -ExactSum::kScaleExponent;
  const double variance = centred_squares(n, exponent) / n;
  statistics.standard_deviation = std::ldexp(std::sqrt(variance), exponent);
  return statistics;
}

// The sum of (x - mean)^2, times 4^-exponent, from sums without rounding: nothing cancels that
// they have.
double PairPartial::Side::centred_squares(double n, int exponent) const {
  const double mean = sum.value(-exponent) / n;
  // sum of x^2 - 2 * mean * sum of x + n * mean^2
  ExactSum centred = squares;
  ExactSum rest = sum;
  for (int part = 0; part < 3; ++part) {
    const double value = rest.value(-exponent);
    rest.add(-value, exponent);
    add_product(centred, -2 * mean, value, 2 * exponent);
  }
  const double square = mean * mean;
  add_product(centred, n, square, 2 * exponent);
  add_product(centred, n, std::fma(mean, mean, -square), 2 * exponent);
  // That is about the mean as it was rounded.
  ExactSum residue = sum;
  add_product(residue, -n, mean, exponent);
  const double off = residue.value(-exponent);
  return std::max(0.0, centred.value(-2 * exponent) - off * off / n);
}

}  // namespace fastdump::kernels
