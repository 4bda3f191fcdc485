#include "core/tree/execution_order.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace fastdump {
namespace {

// Nulls order last, so that what is known comes first.
template <class T>
std::pair<bool, T> null_last(const std::optional<T>& value) {
  return {!value.has_value(), value.value_or(T{})};
}

auto order_of(const Where& where) {
  return std::tuple(null_last(where.rank), where.time.empty(), std::string_view(where.time),
                    null_last(where.device), std::string_view(where.model),
                    null_last(where.model_id), null_last(where.step));
}

// The position of every directory in the order of where it lies; directories at one place share
// one.
std::vector<std::size_t> order_directories(const AppendOnly<Directory>& directories) {
  std::vector<std::size_t> sorted(directories.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::ranges::stable_sort(sorted, [&](std::size_t a, std::size_t b) {
    return order_of(directories[a].where) < order_of(directories[b].where);
  });
  std::vector<std::size_t> position(directories.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool same = i > 0 && order_of(directories[sorted[i - 1]].where) ==
                                   order_of(directories[sorted[i]].where);
    position[sorted[i]] = same ? position[sorted[i - 1]] : i;
  }
  return position;
}

}  // namespace

std::vector<std::size_t> execution_order(const FileTree& tree,
                                         std::span<const Execution> executions) {
  // Small, for there are many; directory and timestamp nearly always tell.
  struct Key {
    std::size_t place;  // of the directory; odd: without a timestamp
    std::int64_t timestamp;
    std::size_t position;
  };
  const auto rest_of = [&](const Key& key) {
    const Execution& execution = executions[key.position];
    return std::tuple(null_last(execution.stream_id), null_last(execution.task_id), execution.file,
                      key.position);
  };
  const std::vector<std::size_t> directories = order_directories(tree.directories());
  std::vector<Key> keys;
  keys.reserve(executions.size());
  for (std::size_t i = 0; i < executions.size(); ++i) {
    const Execution& execution = executions[i];
    const std::size_t place = directories[tree.directory_index(execution.file)];
    keys.push_back({2 * place + (execution.timestamp ? 0 : 1), execution.timestamp.value_or(0), i});
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.place != b.place) return a.place < b.place;
    if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
    return rest_of(a) < rest_of(b);
  });
  std::vector<std::size_t> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(key.position);
  return order;
}

}  // namespace fastdump
