#include "core/tree/selection.hpp"

#include <algorithm>

#include "core/tree/glob.hpp"

namespace fastdump {
namespace {

bool matches(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || (!text.empty() && matches_any(patterns, text));
}

}  // namespace

bool contains(const NumberRanges& ranges, std::optional<std::int64_t> number) {
  if (ranges.empty()) return true;
  return number.has_value() && std::ranges::any_of(ranges, [&](const NumberRange& range) {
           return range.first <= *number && *number <= range.last;
         });
}

OpNamePatterns::OpNamePatterns(const std::vector<std::string>& patterns) {
  as_in_file_names_.reserve(patterns.size());
  for (const std::string& pattern : patterns) {
    as_in_file_names_.push_back(pattern_as_in_file_name(pattern));
  }
}

bool OpNamePatterns::match(std::string_view name) const {
  return empty() || (!name.empty() && matches_any(as_in_file_names_, as_in_file_name(name)));
}

bool Selection::may_lie_in(const Where& where) const {
  // Where the directory does not tell the device, the file's name may.
  return contains(rank, where.rank) && contains(step, where.step) &&
         contains(model_id, where.model_id) && (!where.device || contains(device, where.device)) &&
         matches(time, where.time) && matches(model, where.model);
}

bool Selection::may_hold(const Where& where, const FileName& name) const {
  const bool rows_tell = name.kind == NameKind::statistics && name.op_type.empty();
  return may_lie_in(where) && contains(device, where.device ? where.device : name.device) &&
         (rows_tell || has_op_type(name.op_type));
}

bool Selection::has_op_type(const std::string& type) const { return matches(op_type, type); }

bool Selection::has_op_name(std::string_view in_header, std::string_view in_file_name) const {
  return op_name.match(in_header) || op_name.match(in_file_name);
}

bool Selection::has(const TensorDescription& tensor) const {
  if (!io.empty() && std::ranges::count(io, tensor.io) == 0) return false;
  if (!contains(index, tensor.index)) return false;
  return matches(dtype, tensor.dtype == nullptr ? "" : std::string(tensor.dtype->name));
}

bool Selection::has(Status wanted) const {
  return status.empty() || std::ranges::count(status, wanted) != 0;
}

bool Selection::may_get(Status described) const {
  return has(described) || has(Status::truncated) || has(Status::unreadable) ||
         has(Status::changed);
}

}  // namespace fastdump
