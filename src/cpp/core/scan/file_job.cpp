#include "core/scan/file_job.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "core/io/page_guard.hpp"
#include "core/size.hpp"
#include "core/stream/stream_sizes.hpp"

namespace fastdump {
namespace {

using Clock = std::chrono::steady_clock;

// Four faults, for which Linux maps 16 pages each. A multiple of a block of every element type.
constexpr std::size_t kTouchedBytes = std::size_t{256} << 10;
constexpr std::size_t kFaultBytes = std::size_t{64} << 10;
// Mapped pages that were reduced are let go so many at a time.
constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int element_bits(const TensorDescription& tensor) {
  return kernels::element_bits(tensor.dtype->element);
}

std::uint64_t elements_in(std::size_t nbytes, const TensorDescription& tensor) {
  return std::uint64_t{nbytes} * 8 / static_cast<std::uint64_t>(element_bits(tensor));
}

}  // namespace

FileJob::FileJob(File file, std::uint64_t size, FileRows rows, Engine engine, EngineMeter& meter)
    : file_(std::move(file)),
      size_(size),
      chunk_nbytes_(stream_sizes().chunk_nbytes),
      rows_(std::move(rows)),
      engine_(engine),
      shared_meter_(meter),
      meter_(meter) {
  if (engine_ == Engine::automatic &&
      (size_ < stream_sizes().min_mapped_nbytes || is_on_network(file_))) {
    engine_ = Engine::read;
  }
  const bool gathers = std::ranges::any_of(rows_.tensors, &TensorRow::is_gathered);
  if (engine_ != Engine::read || gathers) install_page_guard();
  if (gathers && mapping().data() == nullptr) keep_padding();
  plan();
}

// What is gathered lies anywhere in a tensor: that takes a mapping.
void FileJob::keep_padding() {
  for (TensorRow& row : rows_.tensors) {
    if (!row.is_gathered()) continue;
    row.logical.reset();
    note_padding(row.tensor, "the file cannot be mapped");
  }
}

void FileJob::plan() {
  for (std::size_t row = 0; row < rows_.tensors.size(); ++row) {
    const TensorDescription& tensor = rows_.tensors[row].tensor;
    if (rows_.tensors[row].statistics || !is_reducible(tensor)) continue;
    const std::uint64_t nbytes =
        packed_nbytes(rows_.tensors[row].n_elements(), element_bits(tensor));
    const std::uint64_t n_chunks = (nbytes + chunk_nbytes_ - 1) / chunk_nbytes_;
    tensors_.push_back({row, n_chunks_, n_chunks, nullptr});
    n_chunks_ += n_chunks;
  }
  if (engine_ == Engine::read) return;
  chunks_a_window_ = std::max<std::uint64_t>(kWindowBytes / chunk_nbytes_, 1);
  windows_ = std::vector<std::atomic<std::uint64_t>>(n_chunks_ / chunks_a_window_ + 1);
}

FileJob::TensorWork& FileJob::tensor_of(std::uint64_t chunk_index) {
  const auto after = std::ranges::upper_bound(tensors_, chunk_index, {}, &TensorWork::first_chunk);
  return *std::prev(after);
}

FileJob::Chunk FileJob::chunk_of(const TensorWork& work, std::uint64_t chunk_index) const {
  const TensorDescription& tensor = rows_.tensors[work.row].tensor;
  const std::uint64_t begin = (chunk_index - work.first_chunk) * chunk_nbytes_;
  const std::uint64_t first = elements_in(begin, tensor);
  const std::uint64_t n =
      std::min(rows_.tensors[work.row].n_elements() - first, elements_in(chunk_nbytes_, tensor));
  return {tensor, first, n, tensor.offset + begin, packed_nbytes(n, element_bits(tensor))};
}

FileJob::Work FileJob::work(Worker& worker) {
  const std::uint64_t index = next_chunk_.fetch_add(1);
  if (index >= n_chunks_) return {};
  TensorWork& tensor = tensor_of(index);
  const Chunk chunk = chunk_of(tensor, index);
  if (const TensorRow& row = rows_.tensors[tensor.row]; row.is_gathered()) {
    add(tensor, chunk, worker, reduce_gathered(worker, *row.logical, chunk));
    return {chunk.nbytes, done_chunks_.fetch_add(1) + 1 == n_chunks_};
  }
  const Engine engine = engine_ == Engine::automatic ? meter_.choose() : engine_;
  const auto start = Clock::now();
  ReadResult read = {chunk.nbytes, 0};
  if (engine != Engine::mmap || !reduce_mapped(worker, chunk)) read = reduce_read(worker, chunk);
  double seconds = seconds_since(start);
  if (engine_ != Engine::read) drop(index);
  if (engine_ == Engine::automatic) {
    if (engine == Engine::mmap) seconds += drop_seconds_.load();
    meter_.record(engine, chunk.nbytes, seconds);
    shared_meter_.record(engine, chunk.nbytes, seconds);
  }
  add(tensor, chunk, worker, read);
  return {chunk.nbytes, done_chunks_.fetch_add(1) + 1 == n_chunks_};
}

const Mapping& FileJob::mapping() {
  std::call_once(mapped_, [&] {
    mapping_ = std::make_unique<Mapping>(file_, size_);
    is_mapped_ = true;
  });
  return *mapping_;
}

// Each piece is touched before the one ahead of it is reduced. Its page faults come in a row, which
// is faster than one by one, and what the kernels prefetch is mapped by then.
void FileJob::reduce_touching_ahead(Worker& worker, const Chunk& chunk, const std::byte* data) {
  const auto touch = [&](std::size_t begin) {
    const std::size_t end = std::min(begin + kTouchedBytes, chunk.nbytes);
    for (std::size_t at = begin; at < end; at += kFaultBytes) {
      // SAFETY: in the chunk, whose pages are guarded.
      static_cast<void>(*static_cast<const volatile std::byte*>(data + at));
    }
  };
  touch(0);
  for (std::size_t begin = 0; begin < chunk.nbytes; begin += kTouchedBytes) {
    touch(begin + kTouchedBytes);
    const std::uint64_t first = elements_in(begin, chunk.tensor);
    const std::uint64_t n = std::min(elements_in(kTouchedBytes, chunk.tensor), chunk.n - first);
    worker.reduce(chunk.tensor.dtype->element, data + begin, n, chunk.first + first);
  }
}

// Lets go of a chunk's pages, with those of its window when all of that is done: other CPUs are
// interrupted each time.
void FileJob::drop(std::uint64_t chunk_index) {
  const std::uint64_t window = chunk_index / chunks_a_window_;
  const std::uint64_t first = window * chunks_a_window_;
  const std::uint64_t end = std::min(first + chunks_a_window_, n_chunks_);
  if (windows_[window].fetch_add(1) + 1 != end - first || !is_mapped_.load()) return;
  const auto start = Clock::now();
  std::uint64_t offset = 0;
  std::uint64_t nbytes = 0;
  for (std::uint64_t i = first; i < end; ++i) {
    const Chunk chunk = chunk_of(tensor_of(i), i);
    if (chunk.offset != offset + nbytes) {
      mapping().drop(offset, nbytes);
      offset = chunk.offset;
      nbytes = 0;
    }
    nbytes += chunk.nbytes;
  }
  mapping().drop(offset, nbytes);
  drop_seconds_ = seconds_since(start) / static_cast<double>(end - first);
}

// False if the mapping does not hold the bytes: the chunk must be read.
bool FileJob::reduce_mapped(Worker& worker, const Chunk& chunk) {
  if (lost_.load()) return false;
  const Mapping& mapped = mapping();
  if (mapped.data() == nullptr) return false;
  const std::byte* data = mapped.data() + chunk.offset;
  worker.clear();
  {
    const PageGuard guard(data, chunk.nbytes, lost_);
    reduce_touching_ahead(worker, chunk, data);
  }
  // Behind the end of a shrunken file the rest of its last page reads as zeros without a fault.
  const std::int64_t size = file_.size();
  if (size < 0 || static_cast<std::uint64_t>(size) < chunk.offset + chunk.nbytes) return false;
  return !lost_.load();
}

// All of the chunk's elements or none: those that were not there may be any of them.
ReadResult FileJob::reduce_gathered(Worker& worker, const LogicalElements& logical,
                                    const Chunk& chunk) {
  const std::uint64_t begin = chunk.tensor.offset;
  const std::byte* stored = mapping().data() + begin;
  worker.clear();
  {
    const PageGuard guard(stored, logical.stored_nbytes(), lost_);
    worker.reduce_gathered(chunk.tensor.dtype->element, logical, stored, chunk.first, chunk.n);
  }
  const std::int64_t size = file_.size();
  const std::uint64_t end = begin + logical.stored_nbytes();
  if (!lost_.load() && size >= 0 && static_cast<std::uint64_t>(size) >= end) {
    return {chunk.nbytes, 0};
  }
  worker.clear();
  return {};
}

// The bytes that were there are reduced.
ReadResult FileJob::reduce_read(Worker& worker, const Chunk& chunk) const {
  worker.clear();
  ReadResult total;
  while (total.nbytes < chunk.nbytes) {
    const std::size_t piece = std::min(chunk.nbytes - total.nbytes, worker.buffer().size());
    const ReadResult read =
        read_at(file_, worker.buffer().first(piece), chunk.offset + total.nbytes);
    const std::uint64_t first = elements_in(total.nbytes, chunk.tensor);
    const std::uint64_t n = std::min(elements_in(read.nbytes, chunk.tensor), chunk.n - first);
    worker.reduce(chunk.tensor.dtype->element, worker.buffer().data(), n, chunk.first + first);
    total.nbytes += read.nbytes;
    total.error = read.error;
    if (read.nbytes < piece) break;
  }
  return total;
}

void FileJob::add(TensorWork& work, const Chunk& chunk, const Worker& worker, ReadResult read) {
  const std::uint64_t n_read =
      std::min<std::uint64_t>(elements_in(read.nbytes, chunk.tensor), chunk.n);
  std::optional<kernels::Statistics>& statistics = rows_.tensors[work.row].statistics;
  const std::lock_guard lock(mutex_);
  work.n_missing += chunk.n - n_read;
  if (read.error != 0) work.error = read.error;
  --work.n_left;
  if (const TensorRow& row = rows_.tensors[work.row]; work.n_left == 0 && row.is_gathered()) {
    mapping().drop(row.tensor.offset, row.logical->stored_nbytes());
  }
  if (work.total == nullptr && work.n_left == 0) {
    statistics = worker.finish(chunk.tensor.dtype->element);
    return;
  }
  if (work.total == nullptr) work.total = std::make_unique<kernels::Partial>();
  work.total->add(worker.partial(), chunk.tensor.dtype->element);
  if (work.n_left != 0) return;
  statistics = work.total->finish(worker.level(), chunk.tensor.dtype->element);
  work.total.reset();
}

FileRows FileJob::take_rows() {
  for (TensorRow& row : rows_.tensors) row.logical.reset();
  for (const TensorWork& work : tensors_) {
    if (work.n_missing == 0) continue;
    TensorDescription& tensor = rows_.tensors[work.row].tensor;
    const std::string missing = std::to_string(work.n_missing) + " elements are missing";
    if (work.error != 0) {
      tensor.status = Status::unreadable;
      rows_.tensors[work.row].error = work.error;
      tensor.note.add(std::string(std::strerror(work.error)) + ": " + missing);
    } else {
      tensor.status = Status::truncated;
      tensor.note.add("the file shrank while it was read: " + missing);
    }
  }
  return std::move(rows_);
}

}  // namespace fastdump
