#include "core/scan/selection.hpp"

#include <algorithm>

#include "core/scan/glob.hpp"

namespace fastdump {
namespace {

bool contains(const std::vector<std::int64_t>& wanted, const std::optional<std::int64_t>& value) {
  return wanted.empty() || (value.has_value() && std::ranges::count(wanted, *value) != 0);
}

}  // namespace

bool Selection::may_lie_in(const Where& where) const {
  // Where the directory does not tell the device, the file's name may.
  return contains(rank, where.rank) && contains(step, where.step) &&
         contains(model_id, where.model_id) && (!where.device || contains(device, where.device)) &&
         (time.empty() || matches_any(time, where.time)) &&
         (model.empty() || matches_any(model, where.model));
}

bool Selection::may_hold(const Where& where, const FileName& name) const {
  const bool rows_tell = name.kind == NameKind::statistics && name.op_type.empty();
  return may_lie_in(where) && contains(device, where.device ? where.device : name.device) &&
         (rows_tell || has_op_type(name.op_type));
}

bool Selection::has_op_type(const std::string& type) const {
  return op_type.empty() || matches_any(op_type, type);
}

bool Selection::has_op_name(const std::string& in_header, const std::string& in_file_name) const {
  return op_name.empty() || matches_any(op_name, in_header) || matches_any(op_name, in_file_name);
}

bool Selection::has(Io io) const { return tensor.empty() || std::ranges::count(tensor, io) != 0; }

}  // namespace fastdump
