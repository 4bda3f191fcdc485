#include "core/tree/walk.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <utility>

#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/formats/mapping_csv.hpp"
#include "core/formats/tree_path.hpp"
#include "core/io/descriptors.hpp"
#include "core/io/directory.hpp"
#include "core/io/file.hpp"

namespace fastdump {
namespace {

constexpr std::string_view kMappingName = "mapping.csv";

// Far above what a directory of over-long names needs; a larger file is not a mapping.
constexpr std::int64_t kMaxMappingBytes = std::int64_t{64} << 20;

// Which directory it is, however it is reached.
using Identity = std::pair<std::uint64_t, std::uint64_t>;

Identity identity_of(const FileStatus& status) { return {status.device, status.inode}; }

int find_status(const std::string& path, Links links, FileStatus& status) {
  return -retry_interrupted([&] { return system().status_of_path(path.c_str(), links, status); });
}

// The path as it is if it cannot be resolved.
std::string absolute(const std::string& path) {
  std::string resolved;
  const int error = retry_interrupted([&] { return system().resolve(path.c_str(), resolved); });
  return error == 0 ? resolved : path;
}

std::string_view name_of_special(FileType type) {
  if (type == FileType::fifo) return "FIFO";
  if (type == FileType::socket) return "socket";
  return "device";
}

// A root that is a file, cut into the directory that it lies in and its name there.
struct RootFile {
  std::string directory;  // with its slash; empty: the working directory
  std::string name;
};

RootFile split_root(const std::string& root) {
  const std::size_t slash = root.rfind('/');
  if (slash == std::string::npos) return {"", root};
  return {root.substr(0, slash + 1), root.substr(slash + 1)};
}

// Returns why the names are not known that mapping.csv has; empty if they are, or there is none.
std::string_view read_mapping(Directory& directory) {
  constexpr std::string_view kUnreadable = "mapping.csv that cannot be read: its names are unknown";
  const File file = File::wait_for(join_path(directory.path, kMappingName).c_str());
  if (file.error() != 0) return file.error() == ENOENT ? std::string_view{} : kUnreadable;
  const std::int64_t size = file.size();
  if (size < 0) return kUnreadable;
  if (size > kMaxMappingBytes) return "mapping.csv of more than 64 MiB: its names are unknown";
  std::string text(static_cast<std::size_t>(size), '\0');
  const auto read = read_at(file, std::as_writable_bytes(std::span(text)), 0);
  text.resize(read.nbytes);
  directory.real_names = parse_mapping_csv(text);
  return read.error != 0 ? kUnreadable : std::string_view{};
}

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

  void walk_root(const std::string& root, bool is_one_of_several) {
    FileStatus status;
    const int error = find_status(root, Links::follow, status);
    if (error != 0) throw SystemError(error, root);
    if (status.type == FileType::directory) {
      root_ = absolute(root);
      // Rows of several roots must tell them apart.
      shown_root_ = is_one_of_several ? root : "";
      visited_.clear();
      walk_directory(root, "", identity_of(status), true);
    } else if (status.type == FileType::regular) {
      add_root_file(root, is_one_of_several);
    } else {
      count_skipped(name_of_special(status.type));
    }
  }

 private:
  struct Child {
    std::string name;
    Identity identity;
  };

  void count_skipped(std::string_view reason) { fastdump::count_skipped(skipped_, reason); }

  void find_real_names(Directory& directory) {
    const std::string_view problem = read_mapping(directory);
    if (!problem.empty()) count_skipped(problem);
  }

  void add_file(std::uint32_t directory, std::string_view name) {
    tree_.add_file(directory, name);
    found_.fetch_add(1, std::memory_order_relaxed);
  }

  void add_root_file(const std::string& root, bool is_one_of_several) {
    const RootFile file = split_root(root);
    Directory directory;
    directory.path = file.directory;
    directory.relative = is_one_of_several ? file.directory : "";
    directory.where = parse_tree_path(absolute(file.directory.empty() ? "." : file.directory), "");
    directory.holds_root = true;
    if (is_decimal(file.name)) find_real_names(directory);
    add_file(tree_.add_directory(std::move(directory)), file.name);
    on_files_();
  }

  void walk_directory(const std::string& path, const std::string& below, Identity identity,
                      bool is_root) {
    // Without links a directory has one parent; with them it is visited once.
    if (options_.follow_links && !visited_.insert(identity).second) {
      count_skipped("link to a directory that is scanned anyway");
      return;
    }
    std::vector<Child> children;
    if (!add_files(path, below, is_root, children)) return;
    for (const Child& child : children) {
      if (stop_.load(std::memory_order_relaxed)) return;
      walk_directory(join_path(path, child.name), join_path(below, child.name), child.identity,
                     false);
    }
  }

  // Adds the files of one directory, and lists the directories in it. False after `stop`.
  bool add_files(const std::string& path, const std::string& below, bool is_root,
                 std::vector<Child>& children) {
    const DirectoryListing listing(path, stop_);
    if (listing.error() != 0 && is_root) throw SystemError(listing.error(), path);
    if (listing.error() != 0) {
      count_skipped(is_scarcity(listing.error())
                        ? "directory that cannot be read: too many open files, or no memory"
                        : "directory that cannot be read");
      if (listing.entries().empty()) return true;
    }
    Directory directory;
    directory.path = path;
    directory.relative = join_path(shown_root_, below);
    directory.where = parse_tree_path(root_, below);
    if (needs_mapping(listing)) find_real_names(directory);
    const std::uint32_t index = tree_.add_directory(std::move(directory));
    for (const DirectoryListing::Entry& entry : listing.entries()) {
      if (stop_.load(std::memory_order_relaxed)) return false;
      add_entry(index, path, entry, children);
    }
    on_files_();
    return true;
  }

  // A listing that failed may have been cut before the mapping's name.
  static bool needs_mapping(const DirectoryListing& listing) {
    if (listing.error() == 0 && !listing.contains(kMappingName)) return false;
    return std::ranges::any_of(listing.entries(),
                               [](const auto& entry) { return is_decimal(entry.name); });
  }

  void add_entry(std::uint32_t directory, const std::string& path,
                 const DirectoryListing::Entry& entry, std::vector<Child>& children) {
    FileStatus status;
    status.type = entry.type;
    // Links have to be told from what they lead to, and a directory that a link may lead to, too,
    // has to be known again.
    const bool is_known = status.type == FileType::regular ||
                          (status.type == FileType::directory && !options_.follow_links);
    if (!is_known && !find_target(join_path(path, entry.name), status)) return;
    if (status.type == FileType::directory) {
      children.push_back({std::string(entry.name), identity_of(status)});
    } else if (status.type == FileType::regular) {
      add_file(directory, entry.name);
    } else {
      count_skipped(name_of_special(status.type));
    }
  }

  // Follows a link if that is wanted. False if there is nothing to be added; it is counted then.
  bool find_target(const std::string& path, FileStatus& status) {
    if (const int error = find_status(path, Links::keep, status); error != 0) {
      count_skipped(error == ENOENT ? "vanished while it was listed" : "file that cannot be read");
      return false;
    }
    if (status.type != FileType::link) return true;
    if (!options_.follow_links) {
      count_skipped("symbolic link");
      return false;
    }
    const int error = find_status(path, Links::follow, status);
    if (error == 0) return true;
    count_skipped(error == ELOOP ? "symbolic link loop" : "dangling symbolic link");
    return false;
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

std::string find_real_name(const std::string& path) {
  RootFile file = split_root(path);
  if (!is_decimal(file.name)) return file.name;
  Directory directory;
  directory.path = file.directory;
  read_mapping(directory);
  const auto found = directory.real_names.find(file.name);
  return found == directory.real_names.end() ? file.name : found->second;
}

}  // namespace fastdump
