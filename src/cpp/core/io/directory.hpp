// What a directory lists, in the order of the names.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/system.hpp"

namespace fastdump {

class DirectoryListing {
 public:
  struct Entry {
    std::string_view name;
    FileType type;
  };

  // Lists the directory without "." and "..", or less of it after `stop`.
  DirectoryListing(const std::string& path, const std::atomic<bool>& stop);
  DirectoryListing(const DirectoryListing&) = delete;
  DirectoryListing& operator=(const DirectoryListing&) = delete;

  // 0, or the errno of what kept the directory from being read, or from being read to its end.
  int error() const { return error_; }
  const std::vector<Entry>& entries() const { return entries_; }
  bool contains(std::string_view name) const;

 private:
  struct Place {
    std::size_t begin;
    std::size_t length;
    FileType type;
  };

  void read(DirectoryStream* directory, const std::atomic<bool>& stop);
  void sort();

  int error_ = 0;
  std::string names_;          // all of them, one behind the other
  std::vector<Place> places_;  // of each in names_
  std::vector<Entry> entries_;
};

}  // namespace fastdump
