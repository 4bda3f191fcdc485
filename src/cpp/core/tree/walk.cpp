#include "core/tree/walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/formats/mapping_csv.hpp"
#include "core/formats/tree_path.hpp"
#include "core/io/file.hpp"

namespace fastdump {
namespace {

// Far above what a directory of over-long names needs; a larger file is not a mapping.
constexpr std::int64_t kMaxMappingBytes = std::int64_t{64} << 20;

using Identity = std::pair<dev_t, ino_t>;

void join(std::string_view directory, std::string_view name, std::string& path) {
  path.assign(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  path.append(name);
}

std::string join(std::string_view directory, std::string_view name) {
  std::string path;
  join(directory, name, path);
  return path;
}

std::string absolute(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved == nullptr ? path : std::string(resolved.get());
}

std::string_view special_file(mode_t mode) {
  if (S_ISFIFO(mode)) return "FIFO";
  if (S_ISSOCK(mode)) return "socket";
  return "device";
}

// What a directory lists.
struct Name {
  std::string_view text;
  unsigned char type;  // DT_*
};

class Listing {
 public:
  void add(std::string_view text, unsigned char type) {
    places_.push_back({bytes_.size(), text.size(), type});
    bytes_.append(text);
  }
  // In order; they refer to this listing.
  std::vector<Name> sorted() const {
    std::vector<Name> names;
    names.reserve(places_.size());
    for (const Place& place : places_) {
      names.push_back({std::string_view(bytes_).substr(place.offset, place.length), place.type});
    }
    std::ranges::sort(names, {}, &Name::text);
    return names;
  }

 private:
  struct Place {
    std::size_t offset;
    std::size_t length;
    unsigned char type;
  };

  std::string bytes_;
  std::vector<Place> places_;
};

class Walker {
 public:
  Walker(const WalkOptions& options, const std::atomic<bool>& stop,
         std::atomic<std::uint64_t>& found, FileTree& tree, SkippedFiles& skipped,
         const std::function<void()>& on_files)
      : options_(options),
        stop_(stop),
        found_(found),
        tree_(tree),
        skipped_(skipped),
        on_files_(on_files) {}

  void walk_root(const std::string& root, bool several) {
    struct stat status;
    if (::stat(root.c_str(), &status) != 0) throw SystemError(errno, root);
    if (S_ISDIR(status.st_mode)) {
      root_ = absolute(root);
      // Rows of several roots must tell them apart.
      shown_root_ = several ? root : "";
      visited_.clear();
      walk_directory(root, "", {status.st_dev, status.st_ino}, true);
      return;
    }
    const std::size_t slash = root.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : root.substr(0, slash + 1);
    Directory directory;
    directory.path = slash == std::string::npos ? "" : parent;
    directory.relative = several && slash != std::string::npos ? parent : "";
    directory.where = parse_tree_path(absolute(parent), "");
    const std::string_view name = std::string_view(root).substr(slash + 1);
    if (!S_ISREG(status.st_mode)) {
      count_skipped(special_file(status.st_mode));
      return;
    }
    if (is_decimal(name)) read_mapping(directory);
    directory.holds_root = true;
    const std::uint32_t index = tree_.add_directory(std::move(directory));
    add_file(index, name);
    on_files_();
  }

 private:
  void count_skipped(std::string_view reason) { fastdump::count_skipped(skipped_, reason); }

  void add_file(std::uint32_t directory, std::string_view name) {
    tree_.add_file(directory, name);
    found_.fetch_add(1, std::memory_order_relaxed);
  }

  static void read_mapping(Directory& directory) {
    const File file(join(directory.path, "mapping.csv").c_str());
    if (file.error() != 0) return;
    const std::int64_t size = file.size();
    if (size <= 0 || size > kMaxMappingBytes) return;
    std::string text(static_cast<std::size_t>(size), '\0');
    const auto read = read_at(file, std::as_writable_bytes(std::span(text)), 0);
    text.resize(read.nbytes);
    directory.real_names = parse_mapping_csv(text);
  }

  // False, with errno set, if the directory cannot be read, or not to its end.
  bool list(const std::string& path, Listing& listing) const {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(path.c_str()), &::closedir);
    if (stream == nullptr) return false;
    errno = 0;
    while (const dirent* entry = ::readdir(stream.get())) {
      if (stop_.load(std::memory_order_relaxed)) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") listing.add(name, entry->d_type);
      errno = 0;
    }
    return errno == 0;
  }

  void walk_directory(const std::string& path, const std::string& below, Identity identity,
                      bool is_root) {
    // Without links a directory has one parent; with them it is visited once.
    if (options_.follow_links && !visited_.insert(identity).second) {
      count_skipped("link to a directory that is scanned anyway");
      return;
    }
    std::vector<std::pair<std::string, Identity>> children;
    if (!walk_files(path, below, is_root, children)) return;
    for (const auto& [child, child_identity] : children) {
      if (stop_.load(std::memory_order_relaxed)) return;
      walk_directory(join(path, child), join(below, child), child_identity, false);
    }
  }

  // The directory without those in it. False if all is to end.
  bool walk_files(const std::string& path, const std::string& below, bool is_root,
                  std::vector<std::pair<std::string, Identity>>& children) {
    Listing listing;
    const bool is_whole = list(path, listing);
    if (!is_whole && is_root) throw SystemError(errno, path);
    if (!is_whole) count_skipped("directory that cannot be read");
    const std::vector<Name> names = listing.sorted();
    if (!is_whole && names.empty()) return true;

    Directory directory;
    directory.path = path;
    directory.relative = join(shown_root_, below);
    directory.where = parse_tree_path(root_, below);
    const bool has_digits =
        std::ranges::any_of(names, [](const Name& name) { return is_decimal(name.text); });
    if (has_digits) read_mapping(directory);
    const std::uint32_t index = tree_.add_directory(std::move(directory));
    for (const Name& name : names) {
      if (stop_.load(std::memory_order_relaxed)) return false;
      visit(index, path, name, children);
    }
    on_files_();
    return true;
  }

  void visit(std::uint32_t directory, const std::string& path, const Name& name,
             std::vector<std::pair<std::string, Identity>>& children) {
    if (name.type == DT_REG) {
      add_file(directory, name.text);
      return;
    }
    if (name.type == DT_DIR && !options_.follow_links) {
      children.emplace_back(name.text, Identity{});
      return;
    }
    const std::string full = join(path, name.text);
    struct stat status;
    if (::lstat(full.c_str(), &status) != 0) {
      count_skipped(errno == ENOENT ? "vanished while it was listed" : "file that cannot be read");
      return;
    }
    if (S_ISLNK(status.st_mode)) {
      if (!options_.follow_links) {
        count_skipped("symbolic link");
        return;
      }
      if (::stat(full.c_str(), &status) != 0) {
        count_skipped(errno == ELOOP ? "symbolic link loop" : "dangling symbolic link");
        return;
      }
    }
    if (S_ISDIR(status.st_mode)) {
      children.emplace_back(name.text, Identity{status.st_dev, status.st_ino});
    } else if (S_ISREG(status.st_mode)) {
      add_file(directory, name.text);
    } else {
      count_skipped(special_file(status.st_mode));
    }
  }

  const WalkOptions& options_;
  const std::atomic<bool>& stop_;
  std::atomic<std::uint64_t>& found_;
  FileTree& tree_;
  SkippedFiles& skipped_;
  const std::function<void()>& on_files_;
  std::string root_;        // absolute
  std::string shown_root_;  // before the relative path in rows
  std::set<Identity> visited_;
};

}  // namespace

void count_skipped(SkippedFiles& skipped, std::string_view reason) {
  auto found = skipped.find(reason);
  if (found == skipped.end()) found = skipped.emplace(reason, 0).first;
  ++found->second;
}

std::string_view FileTree::real_name(std::size_t file) const {
  const auto& real_names = directory(file).real_names;
  const std::string_view own = name(file);
  if (real_names.empty() || !is_decimal(own)) return own;
  const auto found = real_names.find(std::string(own));
  return found == real_names.end() ? own : std::string_view(found->second);
}

const char* FileTree::path(std::size_t file, std::string& buffer) const {
  join(directory(file).path, name(file), buffer);
  return buffer.c_str();
}

std::string FileTree::shown_path(std::size_t file) const {
  return join(directory(file).relative, name(file));
}

void FileTree::shown_path(std::size_t file, std::string& buffer) const {
  join(directory(file).relative, name(file), buffer);
}

std::uint32_t FileTree::add_directory(Directory directory) {
  directories_.push_back(std::move(directory));
  return static_cast<std::uint32_t>(directories_.size() - 1);
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

void walk(const std::vector<std::string>& roots, const WalkOptions& options,
          const std::atomic<bool>& stop, std::atomic<std::uint64_t>& found, FileTree& tree,
          SkippedFiles& skipped, const std::function<void()>& on_files) {
  Walker walker(options, stop, found, tree, skipped, on_files);
  for (const std::string& root : roots) walker.walk_root(root, roots.size() > 1);
}

FileTree walk(const std::vector<std::string>& roots, const WalkOptions& options,
              const std::atomic<bool>& stop, std::atomic<std::uint64_t>& found) {
  FileTree tree;
  walk(roots, options, stop, found, tree, tree.skipped, [] {});
  return tree;
}

}  // namespace fastdump
