// What a dump holds, by names alone: no file is opened but mapping.csv. Positions number the files
// in the order of execution; a million of them take little more than their names.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/description.hpp"
#include "core/tree/selection.hpp"
#include "core/tree/walk.hpp"

namespace fastdump {

// What names tell of many files.
struct IndexSummary {
  std::uint64_t n_operators = 0;  // distinct pairs of type and name
  std::set<std::int64_t> ranks;
  std::set<std::string> times;
  std::set<std::int64_t> devices;
  std::set<std::string> models;
  std::set<std::int64_t> steps;
  std::map<std::string, std::uint64_t> op_types;    // number of files; without those that tell none
  std::map<std::string_view, std::uint64_t> kinds;  // as to_string() calls them
  // As written; of those in microseconds if there are any, as other clocks do not compare.
  std::optional<std::int64_t> first_timestamp;
  std::optional<std::int64_t> last_timestamp;
};

// The files below some roots, of which an Index has 32-bit positions. As walk(); throws
// std::length_error for more files.
FileTree walk_roots(const std::vector<std::string>& roots, const WalkOptions& options,
                    const std::atomic<bool>& stop);

class Index {
 public:
  using Positions = std::vector<std::uint32_t>;
  using PositionsView = std::span<const std::uint32_t>;

  struct Selected {
    Positions positions;
    Positions undecided;  // those of them that only their headers, or rows, can decide
  };

  // Lists what names call part of a dump, and every root that is a file; counts the others in
  // skipped(). Ends soon, with less, after `stop`. Throws SystemError for a root that cannot be
  // looked at.
  Index(const std::vector<std::string>& roots, const WalkOptions& options,
        const std::atomic<bool>& stop);
  // Lists every file of a tree, whatever its name, in the order of the tree: what a scan of the
  // tree would read.
  explicit Index(FileTree tree);

  std::size_t size() const { return files_.size(); }
  const SkippedFiles& skipped() const { return tree_.skipped; }

  const Where& where(std::size_t position) const { return tree_.directory(file(position)).where; }
  FileName name(std::size_t position) const { return name_of(file(position)); }
  // To open it, in `buffer`, which is reused.
  const char* path(std::size_t position, std::string& buffer) const {
    return tree_.path(file(position), buffer);
  }
  std::string shown_path(std::size_t position) const { return tree_.shown_path(file(position)); }
  void shown_path(std::size_t position, std::string& buffer) const {
    tree_.shown_path(file(position), buffer);
  }
  const Directory& directory(std::size_t position) const { return tree_.directory(file(position)); }
  std::uint32_t directory_index(std::size_t position) const {
    return tree_.directory_index(file(position));
  }
  std::size_t n_directories() const { return tree_.directories().size(); }
  // What rows show of a directory, by its index.
  const std::string& shown_directory(std::size_t index) const {
    return tree_.directories()[index].relative;
  }
  bool was_trusted(std::size_t directory) const {
    return tree_.directories()[directory].was_trusted;
  }
  std::string_view name_on_disk(std::size_t position) const { return tree_.name(file(position)); }

  // All of these take positions, and keep their order.
  // Files that the selection may be about, as far as names tell.
  Selected select(PositionsView positions, const Selection& selection) const;
  // Operators of this name, given as the model has it or as file names do.
  Positions find(PositionsView positions, std::string_view op_name) const;
  // Files whose header alone can tell which operator they are of.
  Positions nameless(PositionsView positions) const;
  std::set<std::string> op_names(PositionsView positions) const;
  IndexSummary summary(PositionsView positions) const;
  // A tree of these files alone, in this order: for a Scan.
  FileTree tree(PositionsView positions) const;
  // The files of one of `n` shards. What rows show as the path of a file decides, on any machine
  // and for ever: shards that are scanned apart join into the whole.
  Positions shard(std::uint32_t i, std::uint32_t n) const;

 private:
  std::size_t file(std::size_t position) const { return files_[position]; }
  FileName name_of(std::size_t file) const;
  bool lists(std::size_t file, NameKind kind);

  FileTree tree_;
  std::vector<std::uint32_t> files_;  // by position
};

}  // namespace fastdump
