#include "core/scan/row.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fastdump {
namespace {

bool is_bad(const ReportedStatistics& reported) {
  const auto counts = {reported.nan, reported.pos_inf, reported.neg_inf};
  if (std::ranges::any_of(counts, [](const auto& count) { return count.value_or(0) != 0; })) {
    return true;
  }
  if (std::ranges::all_of(counts, [](const auto& count) { return count.has_value(); })) {
    return false;
  }
  const auto moments = {reported.max, reported.min, reported.mean, reported.l2norm};
  return std::ranges::any_of(moments,
                             [](const auto& moment) { return moment && !std::isfinite(*moment); });
}

}  // namespace

bool is_bad(const TensorRow& row) {
  const Status status = row.tensor.status;
  if (status != Status::ok && status != Status::unsupported) return true;
  if (row.reported != nullptr) return is_bad(*row.reported);
  return row.statistics && row.statistics->finite != row.statistics->count;
}

void set_uncertain(FileRows& rows, int problem) {
  const bool is_changed = problem == kFileChanged;
  rows.tensors.clear();
  rows.state.reset();
  rows.status = is_changed ? Status::changed : Status::unreadable;
  rows.note = Note(is_changed ? kChangedWhileRead : std::strerror(problem));
}

}  // namespace fastdump
