#include "core/stream/engine.hpp"

#include <algorithm>

namespace fastdump {
namespace {

constexpr std::uint32_t kFirstSamples = 2;
// The slower engine gets one chunk after so many, and each time that it is still slower the next
// one after twice as many, up to a limit: at half the speed that costs 3 %, then less than 1 %.
constexpr std::uint32_t kFirstProbe = 32;
constexpr std::uint32_t kLastProbe = 256;
// A chunk is slow for many reasons and fast only for one: the least cost counts, and fades so
// slowly that some ten slower chunks in a row are needed to believe that things have changed.
constexpr double kFade = 1.03;

constexpr std::size_t index_of(Engine engine) { return engine == Engine::mmap ? 0 : 1; }

}  // namespace

EngineMeter::EngineMeter(const EngineMeter& other) {
  const std::lock_guard lock(other.mutex_);
  costs_ = other.costs_;
}

Engine EngineMeter::choose() {
  const std::lock_guard lock(mutex_);
  const Cost& mapped = costs_[0];
  const Cost& read = costs_[1];
  const bool first = mapped.samples < kFirstSamples || read.samples < kFirstSamples;
  if (first) return mapped.samples <= read.samples ? Engine::mmap : Engine::read;
  const Engine faster =
      mapped.seconds_per_byte < read.seconds_per_byte ? Engine::mmap : Engine::read;
  if (faster != faster_) {
    faster_ = faster;
    chosen_ = 0;
    probe_after_ = kFirstProbe;
  }
  if (++chosen_ < probe_after_) return faster;
  chosen_ = 0;
  probe_after_ = std::min(2 * probe_after_, kLastProbe);
  return faster == Engine::mmap ? Engine::read : Engine::mmap;
}

void EngineMeter::record(Engine engine, std::size_t nbytes, double seconds) {
  const std::lock_guard lock(mutex_);
  Cost& cost = costs_[index_of(engine)];
  const double per_byte = seconds / static_cast<double>(std::max<std::size_t>(nbytes, 1));
  const double known = cost.samples == 0 ? per_byte : cost.seconds_per_byte * kFade;
  cost.seconds_per_byte = std::min(per_byte, known);
  ++cost.samples;
}

}  // namespace fastdump
