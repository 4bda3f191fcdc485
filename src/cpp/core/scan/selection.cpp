#include "core/scan/selection.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace fastdump {
namespace {

bool matches(const std::vector<std::string>& patterns, const std::string& text) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

bool contains(const std::vector<std::int64_t>& wanted, const std::optional<std::int64_t>& value) {
  return wanted.empty() || (value.has_value() && std::ranges::count(wanted, *value) != 0);
}

}  // namespace

bool Selection::may_hold(const Where& where, const FileName& name) const {
  const bool rows_tell = name.kind == NameKind::statistics && name.op_type.empty();
  return contains(rank, where.rank) && contains(step, where.step) &&
         (rows_tell || has_op_type(name.op_type));
}

bool Selection::has_op_type(const std::string& type) const {
  return op_type.empty() || matches(op_type, type);
}

bool Selection::has_op_name(const std::string& in_header, const std::string& in_file_name) const {
  return op_name.empty() || matches(op_name, in_header) || matches(op_name, in_file_name);
}

bool Selection::has(Io io) const { return tensor.empty() || std::ranges::count(tensor, io) != 0; }

}  // namespace fastdump
