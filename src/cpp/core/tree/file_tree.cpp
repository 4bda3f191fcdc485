#include "core/tree/file_tree.hpp"

#include <algorithm>
#include <utility>

#include "core/decimal.hpp"

namespace fastdump {

void join_path(std::string_view directory, std::string_view name, std::string& path) {
  path.assign(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  path.append(name);
}

std::string join_path(std::string_view directory, std::string_view name) {
  std::string path;
  join_path(directory, name, path);
  return path;
}

std::string_view FileTree::real_name(std::size_t file) const {
  const auto& real_names = directory(file).real_names;
  const std::string_view own = name(file);
  if (real_names.empty() || !is_decimal(own)) return own;
  const auto found = real_names.find(std::string(own));
  return found == real_names.end() ? own : std::string_view(found->second);
}

const char* FileTree::path(std::size_t file, std::string& buffer) const {
  join_path(directory(file).path, name(file), buffer);
  return buffer.c_str();
}

std::string FileTree::shown_path(std::size_t file) const {
  return join_path(directory(file).relative, name(file));
}

void FileTree::shown_path(std::size_t file, std::string& buffer) const {
  join_path(directory(file).relative, name(file), buffer);
}

std::uint32_t FileTree::add_directory(Directory directory) {
  directories_.push_back(std::move(directory));
  return static_cast<std::uint32_t>(directories_.size() - 1);
}

void FileTree::add_skipped_in(std::uint32_t directory, const SkippedFiles& more) {
  add_skipped(directories_.at(directory).skipped, more);
}

void FileTree::set_damage_in(std::uint32_t directory) {
  directories_.at(directory).has_damage = true;
}

void FileTree::add_file(std::uint32_t directory, std::string_view name) {
  constexpr std::size_t kArenaBytes = std::size_t{64} << 10;
  if (names_.empty() || names_.back().capacity() - names_.back().size() < name.size()) {
    names_.emplace_back().reserve(std::max(kArenaBytes, name.size()));
  }
  std::string& arena = names_.back();
  entries_.push_back(
      {arena.data() + arena.size(), static_cast<std::uint32_t>(name.size()), directory});
  arena.append(name);
}

}  // namespace fastdump
