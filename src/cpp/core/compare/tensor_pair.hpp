// What is compared, and what comes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/dtype.hpp"
#include "core/formats/description.hpp"
#include "core/io/file_state.hpp"
#include "core/layout/host_layout.hpp"
#include "core/note.hpp"
#include "kernels/pair_partial.hpp"

namespace fastdump {

// A tensor by where its elements lie: packed, from `offset` in the file on.
struct TensorPlace {
  std::string path;
  FileState state{};  // of the file when its header was read
  std::uint64_t offset = 0;
  const DataType* dtype = nullptr;  // nullptr: unknown
  std::uint64_t n_elements = 0;     // as they are stored
  // How they become a host array, which is compared; nullptr: they are compared as they lie.
  std::shared_ptr<const HostLayout> layout;

  std::uint64_t n_compared() const { return layout ? layout->n_elements() : n_elements; }
};

// b is the reference.
struct TensorPair {
  TensorPlace a;
  TensorPlace b;
};

struct PairResult {
  bool is_done = false;  // false after the end: the comparison was stopped before
  // ok, truncated, size_mismatch (nothing was compared), unsupported, unreadable or changed.
  Status status = Status::ok;
  Note note;  // which side, and why
  // Of the pairs that both files have; empty if there are no elements to compare.
  std::optional<kernels::PairStatistics> statistics;
  std::optional<double> divergence;  // in nats; empty: not asked for, or no pair is finite
};

}  // namespace fastdump
