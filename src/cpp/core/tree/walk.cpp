#include "core/tree/walk.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <span>
#include <utility>

#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/formats/mapping_csv.hpp"
#include "core/formats/tree_path.hpp"
#include "core/io/descriptors.hpp"
#include "core/io/file.hpp"

namespace fastdump {
namespace {

constexpr std::string_view kMappingName = "mapping.csv";

constexpr std::string_view kUnreadableFile = "file that cannot be read";

// Far above what a directory of over-long names needs; a larger file is not a mapping.
constexpr std::int64_t kMaxMappingBytes = std::int64_t{64} << 20;

// Of a directory that is a root.
constexpr auto kNoParent = std::numeric_limits<std::uint32_t>::max();

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

// False if some may be missing.
bool find_real_names(Directory& directory) {
  const std::string_view problem = read_mapping(directory);
  if (!problem.empty()) count_skipped(directory.skipped, problem);
  return problem.empty();
}

// A listing that failed may have been cut before the mapping's name.
bool needs_mapping(const DirectoryListing& listing) {
  if (listing.error() == 0 && !listing.contains(kMappingName)) return false;
  return std::ranges::any_of(listing.entries(),
                             [](const auto& entry) { return is_decimal(entry.name); });
}

}  // namespace

Walk::Walk(const std::vector<std::string>& roots, const WalkOptions& options,
           const std::atomic<bool>& stop, std::atomic<std::uint64_t>& found, FileTree& tree)
    : paths_(roots), options_(options), stop_(stop), found_(found), tree_(tree) {}

std::size_t Walk::begin(SkippedFiles& skipped) {
  roots_.resize(paths_.size());
  for (std::uint32_t root = 0; root < paths_.size(); ++root) begin_root(root, skipped);
  return items_.size();
}

void Walk::begin_root(std::uint32_t root, SkippedFiles& skipped) {
  Root& begun = roots_[root];
  begun.path = paths_[root];
  FileStatus status;
  const int error = find_status(begun.path, Links::follow, status);
  if (error != 0) throw SystemError(error, begun.path);
  if (status.type == FileType::directory) {
    begun.absolute = absolute(begun.path);
    // Rows of several roots must tell them apart.
    if (paths_.size() > 1) begun.shown = begun.path;
    add_unlisted({root, kNoParent, {}, identity_of(status)});
  } else if (status.type == FileType::regular) {
    add_root_file(root, skipped);
  } else {
    count_skipped(skipped, name_of_special(status.type));
  }
}

void Walk::add_root_file(std::uint32_t root, SkippedFiles& skipped) {
  const RootFile file = split_root(paths_[root]);
  Directory directory;
  directory.root = root;
  directory.path = file.directory;
  if (paths_.size() > 1) directory.relative = file.directory;
  directory.where = parse_tree_path(absolute(file.directory.empty() ? "." : file.directory), "");
  directory.holds_root = true;
  if (is_decimal(file.name)) find_real_names(directory);
  add_skipped(skipped, directory.skipped);
  add_file(tree_.add_directory(std::move(directory)), file.name);
}

std::size_t Walk::list(std::size_t directory, SkippedFiles& skipped) {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    place = place_of(unlisted_[directory]);
  }
  list(place, skipped);
  const std::lock_guard lock(mutex_);
  --n_unlisted_;
  return items_.size();
}

Walk::Place Walk::place_of(const Unlisted& directory) const {
  const Root& root = roots_[directory.root];
  if (directory.parent == kNoParent)
    return {directory.root, true, root.path, {}, directory.identity};
  const Directory& parent = tree_.directories()[directory.parent];
  std::string_view below = parent.relative;
  below.remove_prefix(std::min(below.size(), join_path(root.shown, "").size()));
  return {directory.root, false, join_path(parent.path, directory.name),
          join_path(below, directory.name), directory.identity};
}

bool Walk::visit(const Place& place) {
  const std::lock_guard lock(mutex_);
  return visited_.insert({place.root, place.identity}).second;
}

void Walk::list(const Place& place, SkippedFiles& skipped) {
  // Without links a directory has one parent; with them it is visited once.
  if (options_.follow_links && !visit(place)) {
    count_skipped(skipped, "link to a directory that is scanned anyway");
    return;
  }
  Directory directory;
  directory.root = place.root;
  directory.path = place.path;
  directory.relative = join_path(roots_[place.root].shown, place.below);
  directory.where = parse_tree_path(roots_[place.root].absolute, place.below);
  FileStatus status;
  if (find_status(place.path, Links::follow, status) == 0) {
    directory.state = state_before_listing(status);
    const auto* known = options_.known && !options_.follow_links
                            ? options_.known->find(directory.relative, status)
                            : nullptr;
    if (known != nullptr) {
      add_skipped(skipped, known->skipped);
      take_over(std::move(directory), *known);
      return;
    }
  }
  const DirectoryListing listing(place.path, stop_);
  if (listing.error() != 0 && place.is_root) throw SystemError(listing.error(), place.path);
  if (listing.error() != 0) {
    count_skipped(directory.skipped,
                  is_scarcity(listing.error())
                      ? "directory that cannot be read: too many open files, or no memory"
                      : "directory that cannot be read");
    directory.state = 0;
  }
  if (needs_mapping(listing) && !find_real_names(directory)) directory.state = 0;
  Listed listed = look_at(listing, place.path, directory.skipped);
  if (directory.skipped.contains(kUnreadableFile)) directory.state = 0;
  add_skipped(skipped, directory.skipped);
  {
    const std::lock_guard lock(mutex_);
    const std::uint32_t index = tree_.add_directory(std::move(directory));
    if (!options_.follow_links) {
      // First, so that there is work for many threads soon.
      for (Child& child : listed.children) {
        add_unlisted({place.root, index, std::move(child.name), child.identity});
      }
      listed.children.clear();
    }
    for (const std::string_view name : listed.files) add_file(index, name);
  }
  // Which of several ways to a directory counts must not depend on who was first: one thread goes
  // all of them, in the order of the names.
  for (const Child& child : listed.children) {
    if (stop_.load(std::memory_order_relaxed)) return;
    list({place.root, false, join_path(place.path, child.name), join_path(place.below, child.name),
          child.identity},
         skipped);
  }
}

void Walk::take_over(Directory directory, const KnownDirectory& known) {
  const std::uint32_t root = directory.root;
  directory.state = known.state;
  directory.skipped = known.skipped;
  directory.was_trusted = true;
  const std::lock_guard lock(mutex_);
  const std::uint32_t index = tree_.add_directory(std::move(directory));
  for (const std::string& child : known.children) add_unlisted({root, index, child, {}});
}

Walk::Listed Walk::look_at(const DirectoryListing& listing, const std::string& path,
                           SkippedFiles& skipped) const {
  Listed listed;
  for (const DirectoryListing::Entry& entry : listing.entries()) {
    if (stop_.load(std::memory_order_relaxed)) break;
    FileStatus status;
    status.type = entry.type;
    // A directory that a link may lead to, too, has to be known again.
    const bool needs_status = status.type == FileType::unknown ||
                              (options_.follow_links && (status.type == FileType::link ||
                                                         status.type == FileType::directory));
    if (needs_status && !find_target(join_path(path, entry.name), status, skipped)) continue;
    if (status.type == FileType::directory) {
      listed.children.push_back({std::string(entry.name), identity_of(status)});
    } else if (status.type == FileType::regular) {
      listed.files.push_back(entry.name);
    } else {
      count_skipped(skipped,
                    status.type == FileType::link ? "symbolic link" : name_of_special(status.type));
    }
  }
  return listed;
}

// Follows a link if that is wanted. False if there is nothing to be added; it is counted then.
bool Walk::find_target(const std::string& path, FileStatus& status, SkippedFiles& skipped) const {
  if (const int error = find_status(path, Links::keep, status); error != 0) {
    count_skipped(skipped, error == ENOENT ? "vanished while it was listed" : kUnreadableFile);
    return false;
  }
  if (status.type != FileType::link || !options_.follow_links) return true;
  const int error = find_status(path, Links::follow, status);
  if (error == 0) return true;
  count_skipped(skipped, error == ELOOP ? "symbolic link loop" : "dangling symbolic link");
  return false;
}

void Walk::add_unlisted(Unlisted directory) {
  unlisted_.push_back(std::move(directory));
  items_.push_back({unlisted_.size() - 1, true});
  ++n_unlisted_;
}

void Walk::add_file(std::uint32_t directory, std::string_view name) {
  items_.push_back({tree_.size(), false});
  tree_.add_file(directory, name);
  found_.fetch_add(1, std::memory_order_relaxed);
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
