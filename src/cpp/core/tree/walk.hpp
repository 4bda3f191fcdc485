// Finds the files below some roots. Opens no file but mapping.csv.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tree/file_tree.hpp"

namespace fastdump {

struct WalkOptions {
  bool follow_links = false;  // below the roots; the roots themselves are always followed
};

// Walks every root, in the order of the names, until all are done or `stop`. `found` counts files
// as the walk goes. What lies below a root and cannot be looked at is counted in `skipped`. Throws
// SystemError for a root that cannot be looked at.
FileTree walk(const std::vector<std::string>& roots, const WalkOptions& options,
              const std::atomic<bool>& stop, std::atomic<std::uint64_t>& found);

// Adds the files to `tree`, and calls on_files() whenever there are more of them. What is skipped
// is counted in `skipped` instead of in the tree.
void walk(const std::vector<std::string>& roots, const WalkOptions& options,
          const std::atomic<bool>& stop, std::atomic<std::uint64_t>& found, FileTree& tree,
          SkippedFiles& skipped, const std::function<void()>& on_files);

// What a single file is called in truth: its own name, unless that is a stand-in of digits for
// which mapping.csv beside it has another.
std::string find_real_name(const std::string& path);

}  // namespace fastdump
