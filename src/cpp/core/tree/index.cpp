#include "core/tree/index.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "core/decimal.hpp"
#include "core/formats/file_name.hpp"
#include "core/tree/execution_order.hpp"
#include "core/tree/find_files.hpp"
#include "core/tree/glob.hpp"

namespace fastdump {
namespace {

// Why a file of this name is not listed; empty: it is.
std::string_view skipped_by_name(NameKind kind) {
  switch (kind) {
    case NameKind::converted:
      return "converted file";
    case NameKind::core:
      return "ELF core";
    case NameKind::unknown:
      return "name of no known kind";
    default:
      return {};
  }
}

// FNV-1a, then the finaliser of SplitMix64: the low bits alone would follow the last character.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
  }
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

// Sixteen digits. Others count in another unit, or are dates.
bool is_in_microseconds(std::int64_t timestamp) {
  return timestamp >= 1'000'000'000'000'000 && timestamp < 10'000'000'000'000'000;
}

struct TimeSpan {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;

  void add(std::int64_t timestamp) {
    first = std::min(first.value_or(timestamp), timestamp);
    last = std::max(last.value_or(timestamp), timestamp);
  }
};

}  // namespace

FileTree walk_roots(const std::vector<std::string>& roots, const WalkOptions& options,
                    const std::atomic<bool>& stop) {
  FileTree tree = find_files(roots, options, stop);
  if (tree.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("more than 4,294,967,295 files: open a part of the tree");
  }
  return tree;
}

Index::Index(const std::vector<std::string>& roots, const WalkOptions& options,
             const std::atomic<bool>& stop)
    : tree_(walk_roots(roots, options, stop)) {
  std::vector<Execution> executions;
  executions.reserve(tree_.size());
  for (std::size_t file = 0; file < tree_.size() && !stop; ++file) {
    const FileName name = name_of(file);
    if (!lists(file, name.kind)) continue;
    executions.push_back({file, name.timestamp, name.stream_id, name.task_id});
  }
  files_.reserve(executions.size());
  const auto execution = [&](std::size_t i) { return executions[i]; };
  for (const std::size_t i : execution_order(tree_, executions.size(), execution)) {
    files_.push_back(static_cast<std::uint32_t>(executions[i].file));
  }
}

Index::Index(FileTree tree) : tree_(std::move(tree)), files_(tree_.size()) {
  std::iota(files_.begin(), files_.end(), 0U);
}

// What mapping.csv says counts unless it is nonsense: then all that is known is the digits.
FileName Index::name_of(std::size_t file) const {
  FileName name = parse_file_name(tree_.real_name(file));
  const bool is_nonsense = name.kind == NameKind::unknown || name.kind == NameKind::mapping;
  return is_nonsense && is_decimal(tree_.name(file)) ? parse_file_name(tree_.name(file)) : name;
}

bool Index::lists(std::size_t file, NameKind kind) {
  if (tree_.directory(file).holds_root) return true;
  if (kind == NameKind::mapping) return false;  // no part of the dump, and the walk has read it
  const std::string_view reason = skipped_by_name(kind);
  if (!reason.empty()) count_skipped(tree_.skipped, reason);
  return reason.empty();
}

Index::Selected Index::select(PositionsView positions, const Selection& selection) const {
  std::vector<bool> is_possible;  // by directory
  is_possible.reserve(tree_.directories().size());
  for (std::size_t i = 0; i < tree_.directories().size(); ++i) {
    is_possible.push_back(selection.may_lie_in(tree_.directories()[i].where));
  }
  const bool names_matter =
      !selection.op_type.empty() || !selection.op_name.empty() || !selection.device.empty();
  const bool headers_decide = selection.restricts_tensors() || !selection.status.empty();
  Selected selected;
  for (const std::uint32_t position : positions) {
    if (!is_possible[tree_.directory_index(file(position))]) continue;
    bool is_undecided = headers_decide;
    if (names_matter) {
      const FileName found = name(position);
      if (!selection.may_hold(where(position), found)) continue;
      if (!selection.has_op_type(found.op_type)) is_undecided = true;  // a table's rows have types
      if (!selection.op_name.match(found.op_name)) {
        if (!found.op_name.empty()) continue;
        is_undecided = true;
      }
    }
    selected.positions.push_back(position);
    if (is_undecided) selected.undecided.push_back(position);
  }
  return selected;
}

Index::Positions Index::find(PositionsView positions, std::string_view op_name) const {
  const std::string in_file_name = as_in_file_name(op_name);
  Positions found;
  for (const std::uint32_t position : positions) {
    const std::string candidate = name(position).op_name;
    if (candidate.empty()) continue;
    if (candidate == op_name || candidate == in_file_name) found.push_back(position);
  }
  return found;
}

Index::Positions Index::nameless(PositionsView positions) const {
  Positions found;
  std::ranges::copy_if(positions, std::back_inserter(found), [&](std::uint32_t position) {
    const NameKind kind = name(position).kind;
    return kind == NameKind::digits || kind == NameKind::unknown;
  });
  return found;
}

std::set<std::string> Index::op_names(PositionsView positions) const {
  std::set<std::string> names;
  for (const std::uint32_t position : positions) names.insert(name(position).op_name);
  names.erase("");
  return names;
}

IndexSummary Index::summary(PositionsView positions) const {
  IndexSummary summary;
  std::unordered_set<std::string> operators;
  TimeSpan microseconds;
  TimeSpan all;
  for (const std::uint32_t position : positions) {
    const Where& at = where(position);
    FileName found = name(position);
    const std::optional<std::int64_t> device = at.device ? at.device : found.device;
    if (at.rank) summary.ranks.insert(*at.rank);
    if (!at.time.empty()) summary.times.insert(at.time);
    if (device) summary.devices.insert(*device);
    if (!at.model.empty()) summary.models.insert(at.model);
    if (at.step) summary.steps.insert(*at.step);
    ++summary.kinds[to_string(found.kind)];
    if (found.timestamp) {
      all.add(*found.timestamp);
      if (is_in_microseconds(*found.timestamp)) microseconds.add(*found.timestamp);
    }
    if (!found.op_type.empty()) ++summary.op_types[found.op_type];
    // A type has no slash.
    if (!found.op_type.empty() || !found.op_name.empty()) {
      operators.insert(found.op_type + "/" + found.op_name);
    }
  }
  summary.n_operators = operators.size();
  const TimeSpan& span = microseconds.first ? microseconds : all;
  summary.first_timestamp = span.first;
  summary.last_timestamp = span.last;
  return summary;
}

FileTree Index::tree(PositionsView positions) const {
  FileTree tree;
  for (std::size_t i = 0; i < tree_.directories().size(); ++i) {
    tree.add_directory(tree_.directories()[i]);
  }
  for (const std::uint32_t position : positions) {
    tree.add_file(tree_.directory_index(file(position)), tree_.name(file(position)));
  }
  return tree;
}

Index::Positions Index::shard(std::uint32_t i, std::uint32_t n) const {
  Positions found;
  std::string path;
  for (std::uint32_t position = 0; position < files_.size(); ++position) {
    tree_.shown_path(file(position), path);
    if (hash_of(path) % n == i) found.push_back(position);
  }
  return found;
}

}  // namespace fastdump
