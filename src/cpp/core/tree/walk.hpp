// Finds the files below some roots, directory by directory, by any number of threads. Opens no file
// but mapping.csv.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/concurrency/append_only.hpp"
#include "core/io/directory.hpp"
#include "core/tree/file_tree.hpp"
#include "core/tree/known_directories.hpp"

namespace fastdump {

struct WalkOptions {
  bool follow_links = false;  // below the roots; the roots themselves are always followed
  // Directories that are not listed if they are in the same state still; may be null, and is not
  // looked at where links are followed.
  std::shared_ptr<const KnownDirectories> known = nullptr;
};

// Items are numbered as they are found: files, and directories that are still to be listed, which
// lead to more items. Files come to the tree in any order; execution_order() puts them right.
class Walk {
 public:
  // `found` counts files as the walk goes.
  Walk(const std::vector<std::string>& roots, const WalkOptions& options,
       const std::atomic<bool>& stop, std::atomic<std::uint64_t>& found, FileTree& tree);

  struct Item {
    std::size_t number;  // of a file in the tree, or for list()
    bool is_directory;
  };

  // Looks at the roots; once, before all else. Returns how many items there are now. Throws
  // SystemError for a root that cannot be looked at.
  std::size_t begin(SkippedFiles& skipped);
  Item item(std::size_t i) const { return items_[i]; }
  // Lists a directory, or less of it after `stop`. Returns how many items there are now. What
  // cannot be looked at is counted in `skipped`; a root is a SystemError.
  std::size_t list(std::size_t directory, SkippedFiles& skipped);
  // Whether no directory is left to be listed.
  bool has_ended() const { return n_unlisted_.load() == 0; }

 private:
  // Which directory it is, however it is reached.
  using Identity = std::pair<std::uint64_t, std::uint64_t>;

  struct Root {
    std::string path;
    std::string absolute;
    std::string shown;  // before the relative path in rows
  };
  // A directory that is still to be listed.
  struct Unlisted {
    std::uint32_t root;
    std::uint32_t parent;  // in the tree; kNoParent: it is the root itself
    std::string name;
    Identity identity;
  };
  // Where a directory lies.
  struct Place {
    std::uint32_t root;
    bool is_root;
    std::string path;
    std::string below;  // the root
    Identity identity;
  };
  struct Child {
    std::string name;
    Identity identity;
  };
  // What a directory holds, as far as that is told without the tree.
  struct Listed {
    std::vector<std::string_view> files;
    std::vector<Child> children;
  };

  static Identity identity_of(const FileStatus& status) { return {status.device, status.inode}; }

  void begin_root(std::uint32_t root, SkippedFiles& skipped);
  void add_root_file(std::uint32_t root, SkippedFiles& skipped);
  Place place_of(const Unlisted& directory) const;
  bool visit(const Place& place);  // false if it was before
  void list(const Place& place, SkippedFiles& skipped);
  void take_over(Directory directory, const KnownDirectory& known);
  Listed look_at(const DirectoryListing& listing, const std::string& path,
                 SkippedFiles& skipped) const;
  bool find_target(const std::string& path, FileStatus& status, SkippedFiles& skipped) const;
  void add_unlisted(Unlisted directory);
  void add_file(std::uint32_t directory, std::string_view name);

  const std::vector<std::string>& paths_;
  const WalkOptions options_;
  const std::atomic<bool>& stop_;
  std::atomic<std::uint64_t>& found_;
  FileTree& tree_;
  std::vector<Root> roots_;
  std::atomic<std::size_t> n_unlisted_ = 0;
  std::mutex mutex_;  // of all below, and of the tree
  AppendOnly<Unlisted> unlisted_;
  AppendOnly<Item> items_;
  std::set<std::pair<std::uint32_t, Identity>> visited_;
};

// What a single file is called in truth: its own name, unless that is a stand-in of digits for
// which mapping.csv beside it has another.
std::string find_real_name(const std::string& path);

}  // namespace fastdump
