// How bytes reach a kernel: mapped or read, and which of the two is faster here.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace fastdump {

enum class Engine : std::uint8_t { automatic, mmap, read };

// Chooses between mapping and reading by what each has cost so far. Which is faster depends on how
// the page cache holds the file, on the file system and on the kernel: it is measured, not known.
class EngineMeter {
 public:
  EngineMeter() = default;
  // Starts from what another file taught.
  EngineMeter(const EngineMeter& other);
  EngineMeter& operator=(const EngineMeter&) = delete;

  // The engine for the next chunk: the faster one, or now and then the other, to see whether it
  // still is.
  Engine choose();
  // While storage is waited for, a copy costs nothing, and pages that many threads have mapped are
  // much memory.
  void set_reads_only(bool value) { reads_only_.store(value, std::memory_order_relaxed); }
  bool reads_only() const { return reads_only_.load(std::memory_order_relaxed); }
  void record(Engine engine, std::size_t nbytes, double seconds);

 private:
  struct Cost {
    double seconds_per_byte = 0;  // the least seen, slowly fading
    std::uint32_t samples = 0;
  };

  mutable std::mutex mutex_;
  std::array<Cost, 2> costs_;          // mmap, read
  Engine faster_ = Engine::automatic;  // when it was asked last
  std::uint32_t chosen_ = 0;           // how often since it was probed whether that is still so
  std::uint32_t probe_after_ = 0;
  std::atomic<bool> reads_only_ = false;
};

}  // namespace fastdump
