// A file that is not in memory whole: its tensors, reduced in chunks by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/concurrency/step.hpp"
#include "core/io/file.hpp"
#include "core/reduce/reduction.hpp"
#include "core/scan/row.hpp"
#include "core/stream/engine.hpp"
#include "core/stream/source.hpp"

namespace fastdump {

// How many bytes of a file have to be looked at: those of its tensors that are reducible, and not
// reduced yet.
std::uint64_t nbytes_to_reduce(const FileRows& rows);

class FileJob {
 public:
  // `rows` tell the state of the file. `head` are its first bytes, if they stay for as long as the
  // job. `meter` learns from the file and outlives the job.
  FileJob(File file, std::uint64_t nbytes, FileRows rows, std::span<const std::byte> head,
          Engine engine, EngineMeter& meter);

  std::size_t file() const { return rows_.file; }
  // 0: there is nothing to reduce, and no step that is the last.
  std::uint64_t n_chunks() const { return reduction_->n_chunks(); }
  Step step(Reduction::Thread& thread) { return reduction_->step(thread); }
  // After the last step, once: the rows with their statistics; one that says so if the file did not
  // stay as it was.
  FileRows finish();

 private:
  FileRows rows_;
  std::shared_ptr<Source> source_;
  std::optional<Reduction> reduction_;  // of those rows that are to be reduced, in their order
};

}  // namespace fastdump
