#include "core/tree/known_directories.hpp"

#include <utility>

#include "core/io/file_state.hpp"

namespace fastdump {
namespace {

constexpr std::int64_t kQuietNs = 60'000'000'000;

// A root is shown with a slash at its end, or as nothing.
std::string_view without_slashes(std::string_view shown) {
  while (!shown.empty() && shown.back() == '/') shown.remove_suffix(1);
  return shown;
}

}  // namespace

void KnownDirectories::add(std::string_view shown, std::int64_t state, SkippedFiles skipped) {
  shown = without_slashes(shown);
  KnownDirectory& known = directories_[std::string(shown)];
  known.state = state;
  known.skipped = std::move(skipped);
  if (shown.empty()) return;
  const std::size_t slash = shown.rfind('/');
  const bool is_deeper = slash != std::string_view::npos;
  const std::string_view above = is_deeper ? without_slashes(shown.substr(0, slash)) : "";
  directories_[std::string(above)].children.emplace_back(is_deeper ? shown.substr(slash + 1)
                                                                   : shown);
}

const KnownDirectory* KnownDirectories::find(std::string_view shown,
                                             const FileStatus& status) const {
  const auto found = directories_.find(std::string(without_slashes(shown)));
  if (found == directories_.end() || found->second.state == 0) return nullptr;
  const bool is_same = found->second.state == static_cast<std::int64_t>(state_of(status));
  return is_same ? &found->second : nullptr;
}

std::int64_t state_before_listing(const FileStatus& status) {
  const bool is_quiet = status.modified_ns < system().now_ns() - kQuietNs;
  return is_quiet ? static_cast<std::int64_t>(state_of(status)) : 0;
}

}  // namespace fastdump
