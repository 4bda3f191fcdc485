// A file too large for one read: its tensors cut into chunks, which any thread may reduce.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/io/file.hpp"
#include "core/io/mapping.hpp"
#include "core/scan/row.hpp"
#include "core/scan/worker.hpp"
#include "core/stream/engine.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

class FileJob {
 public:
  // `size` is the file's; `meter` learns from this file and outlives it.
  FileJob(File file, std::uint64_t size, FileRows rows, Engine engine, EngineMeter& meter);

  struct Work {
    std::uint64_t nbytes = 0;  // 0: no chunk was left
    bool last = false;         // all chunks are done now: the caller takes the rows
  };
  // Nothing to reduce: work() must not be called.
  bool empty() const { return n_chunks_ == 0; }
  // Reduces the next chunk. Any number of threads may call it.
  Work work(Worker& worker);
  // After Work::last: the rows with their statistics.
  FileRows take_rows();

 private:
  struct TensorWork {
    std::size_t row;
    std::uint64_t first_chunk;
    // Under mutex_:
    std::uint64_t n_left;                     // chunks
    std::unique_ptr<kernels::Partial> total;  // of the chunks that are done, if there are several
    std::uint64_t n_missing = 0;              // elements that the file no longer had
    int error = 0;                            // errno of a failed read
  };
  struct Chunk {
    const TensorDescription& tensor;
    std::uint64_t first;   // element
    std::size_t n;         // elements
    std::uint64_t offset;  // in the file
    std::size_t nbytes;
  };

  void plan();
  void keep_padding();
  TensorWork& tensor_of(std::uint64_t chunk_index);
  Chunk chunk_of(const TensorWork& work, std::uint64_t chunk_index) const;
  static void reduce_touching_ahead(Worker& worker, const Chunk& chunk, const std::byte* data);
  bool reduce_mapped(Worker& worker, const Chunk& chunk);
  void drop(std::uint64_t chunk_index);
  ReadResult reduce_gathered(Worker& worker, const LogicalElements& logical, const Chunk& chunk);
  ReadResult reduce_read(Worker& worker, const Chunk& chunk) const;
  void add(TensorWork& work, const Chunk& chunk, const Worker& worker, ReadResult read);
  const Mapping& mapping();

  const File file_;
  const std::uint64_t size_;
  const std::uint64_t chunk_nbytes_;
  FileRows rows_;
  Engine engine_;
  EngineMeter& shared_meter_;
  EngineMeter meter_;
  std::vector<TensorWork> tensors_;
  std::uint64_t n_chunks_ = 0;
  std::uint64_t chunks_a_window_ = 1;
  std::vector<std::atomic<std::uint64_t>> windows_;  // chunks of each that are done
  std::atomic<double> drop_seconds_ = 0;             // of the last window, for each of its chunks
  std::atomic<std::uint64_t> next_chunk_ = 0;
  std::atomic<std::uint64_t> done_chunks_ = 0;
  std::mutex mutex_;
  std::once_flag mapped_;
  std::atomic<bool> is_mapped_ = false;  // some chunk has asked for the mapping
  std::unique_ptr<Mapping> mapping_;
  std::atomic<bool> lost_ = false;  // a mapped page is gone: from now on the file is read
};

}  // namespace fastdump
