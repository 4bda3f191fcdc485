#include "kernels/pair_divergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fastdump::kernels {
namespace {

DivergenceSide side_of(const SideStatistics& side) {
  const double scale = std::isfinite(side.max - side.min) ? 1 : 0.25;
  const double min = side.min * scale;
  return {scale, min, side.max * scale - min};
}

}  // namespace

DivergenceRange::DivergenceRange(const PairStatistics& statistics)
    : a(side_of(statistics.a)), b(side_of(statistics.b)) {}

void PairDivergence::add(const Tier& tier, const DivergenceRange& range, PairOperands operands,
                         std::size_t n) {
  constexpr std::size_t kWhole = kPairBlockElements;
  DivergenceBlock block;
  for (std::size_t done = 0; done < n; done += kWhole) {
    tier.pairs.diverge(operands, std::min(n - done, kWhole), range.a, range.b, block);
    p_.add(block.p);
    q_.add(block.q);
    terms_.add(block.terms);
    operands.data_a += kWhole / 8 * static_cast<std::size_t>(element_bits(operands.a));
    operands.data_b += kWhole / 8 * static_cast<std::size_t>(element_bits(operands.b));
  }
}

void PairDivergence::add(const PairDivergence& other) {
  p_.add(other.p_);
  q_.add(other.q_);
  terms_.add(other.terms_);
}

void PairDivergence::clear() {
  for (ExactSum* sum : {&p_, &q_, &terms_}) sum->clear();
}

// sum of (p/P) * ln((p/P) / (q/Q)), with P and Q the sums of p and q.
double PairDivergence::finish(const Tier& tier) const {
  const double p = p_.value();
  const double q = q_.value();
  if (p == 0) return std::numeric_limits<double>::quiet_NaN();
  const double divergence = terms_.value() / p + tier.pairs.logarithm(q / p);
  // It is never negative but by rounding.
  return divergence < std::numeric_limits<double>::epsilon() ? 0 : divergence;
}

}  // namespace fastdump::kernels
