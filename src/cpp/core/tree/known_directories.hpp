// Directories as an earlier walk found them: one that is in the same state since then has the same
// names in it, and need not be listed again. What was written to files in it nobody can tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/io/system.hpp"
#include "core/tree/skipped_files.hpp"

namespace fastdump {

struct KnownDirectory {
  std::int64_t state = 0;             // 0: not known
  SkippedFiles skipped;               // of the files in it
  std::vector<std::string> children;  // names of the directories in it
};

class KnownDirectories {
 public:
  // By what rows show of it, Directory::relative. In any order.
  void add(std::string_view shown, std::int64_t state, SkippedFiles skipped);
  // Null if it is not known, or in another state.
  const KnownDirectory* find(std::string_view shown, const FileStatus& status) const;

 private:
  std::unordered_map<std::string, KnownDirectory> directories_;
};

// The state of a directory that is about to be listed, if it is one that may be found again; 0 if
// something was put into it a short while ago: files in it may be written to still, and more may
// come within the same tick of the clock.
std::int64_t state_before_listing(const FileStatus& status);

}  // namespace fastdump
