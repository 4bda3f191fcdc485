#include "core/io/directory.hpp"

#include <algorithm>

#include "core/io/descriptors.hpp"

namespace fastdump {

DirectoryListing::DirectoryListing(const std::string& path, const std::atomic<bool>& stop) {
  DirectoryStream* directory = nullptr;
  error_ = -retry_scarce([&] { return system().open_directory(path.c_str(), directory); });
  if (error_ != 0) return;
  try {
    read(directory, stop);
  } catch (...) {
    system().close_directory(directory);
    throw;
  }
  system().close_directory(directory);
  sort();
}

void DirectoryListing::read(DirectoryStream* directory, const std::atomic<bool>& stop) {
  DirectoryEntry entry;
  while (!stop.load(std::memory_order_relaxed)) {
    const int found = retry_interrupted([&] { return system().next_entry(directory, entry); });
    if (found < 0) error_ = -found;
    if (found <= 0) return;
    if (entry.name == "." || entry.name == "..") continue;
    places_.push_back({names_.size(), entry.name.size(), entry.type});
    names_ += entry.name;
  }
}

void DirectoryListing::sort() {
  entries_.reserve(places_.size());
  for (const Place& place : places_) {
    entries_.push_back({std::string_view(names_).substr(place.begin, place.length), place.type});
  }
  std::ranges::sort(entries_, {}, &Entry::name);
}

bool DirectoryListing::contains(std::string_view name) const {
  return std::ranges::binary_search(entries_, name, {}, &Entry::name);
}

}  // namespace fastdump
