// The files below some roots, and what their directories tell. What was added stays where it is:
// other threads read the files that a walk has told of while the walk goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/concurrency/append_only.hpp"
#include "core/formats/description.hpp"
#include "core/tree/skipped_files.hpp"

namespace fastdump {

struct Directory {
  std::uint32_t root = 0;  // its number
  std::string path;        // to open files with
  std::string relative;    // what rows show: relative to the root, or as given if there are several
  Where where;
  std::unordered_map<std::string, std::string> real_names;  // from mapping.csv
  bool holds_root = false;  // its one file here is a root itself: somebody named it
  // What is told of it to a later walk, see KnownDirectories:
  std::int64_t state = 0;     // before it was listed; 0: not known
  bool has_damage = false;    // a file in it may be one that was not written to its end
  SkippedFiles skipped = {};  // of the files in it
  bool was_trusted = false;   // it was not listed: an earlier walk has told of it
};

class FileTree {
 public:
  std::size_t size() const { return entries_.size(); }
  const Directory& directory(std::size_t file) const {
    return directories_[entries_[file].directory];
  }
  std::uint32_t directory_index(std::size_t file) const { return entries_[file].directory; }
  const AppendOnly<Directory>& directories() const { return directories_; }
  std::string_view name(std::size_t file) const {
    const Entry& entry = entries_[file];
    return {entry.name, entry.name_length};
  }
  // What the file is called in truth, if mapping.csv tells.
  std::string_view real_name(std::size_t file) const;
  // The path to open, in `buffer`, which is reused.
  const char* path(std::size_t file, std::string& buffer) const;
  std::string shown_path(std::size_t file) const;
  void shown_path(std::size_t file, std::string& buffer) const;

  std::uint32_t add_directory(Directory directory);
  void add_file(std::uint32_t directory, std::string_view name);
  // Adds to what is told of a directory, which stays where it is.
  void add_skipped_in(std::uint32_t directory, const SkippedFiles& more);
  void set_damage_in(std::uint32_t directory);

  SkippedFiles skipped;

 private:
  struct Entry {
    const char* name;
    std::uint32_t name_length;
    std::uint32_t directory;
  };

  AppendOnly<Directory> directories_;
  AppendOnly<Entry> entries_;
  std::deque<std::string> names_;  // arenas: a million names are a few allocations
};

// `directory` and `name` with one slash between them, in `path`, whose memory is reused.
void join_path(std::string_view directory, std::string_view name, std::string& path);
std::string join_path(std::string_view directory, std::string_view name);

}  // namespace fastdump
