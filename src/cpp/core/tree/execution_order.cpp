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

// As paths are ordered part by part: a directory comes before what lies in it.
bool is_before(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
}

// In the order in which one thread would come to the directories, root by root.
bool is_walked_before(const Directory& a, const Directory& b) {
  return a.root != b.root ? a.root < b.root : is_before(a.relative, b.relative);
}

struct DirectoryOrder {
  std::vector<std::size_t>
      place;  // in the order of where it lies; directories at one place share it
  std::vector<std::size_t> walked;  // among those at its place, in the order of a walk
};

DirectoryOrder order_directories(const AppendOnly<Directory>& directories) {
  std::vector<std::size_t> sorted(directories.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::ranges::sort(sorted, [&](std::size_t a, std::size_t b) {
    const auto where_a = order_of(directories[a].where);
    const auto where_b = order_of(directories[b].where);
    if (where_a != where_b) return where_a < where_b;
    if (is_walked_before(directories[a], directories[b])) return true;
    return !is_walked_before(directories[b], directories[a]) && a < b;
  });
  DirectoryOrder order = {std::vector<std::size_t>(sorted.size()),
                          std::vector<std::size_t>(sorted.size())};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool same = i > 0 && order_of(directories[sorted[i - 1]].where) ==
                                   order_of(directories[sorted[i]].where);
    order.place[sorted[i]] = same ? order.place[sorted[i - 1]] : i;
    order.walked[sorted[i]] = i;
  }
  return order;
}

}  // namespace

std::vector<std::size_t> execution_order(
    const FileTree& tree, std::size_t n,
    const std::function<Execution(std::size_t number)>& execution) {
  // Small, for there are many; directory and timestamp nearly always tell.
  struct Key {
    std::size_t place;  // of the directory; odd: without a timestamp
    std::int64_t timestamp;
    std::size_t number;
  };
  const DirectoryOrder directories = order_directories(tree.directories());
  const auto rest_of = [&](const Key& key) {
    const Execution its = execution(key.number);
    return std::tuple(null_last(its.stream_id), null_last(its.task_id),
                      directories.walked[tree.directory_index(its.file)], its.file, key.number);
  };
  std::vector<Key> keys;
  keys.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Execution its = execution(i);
    const std::size_t place = directories.place[tree.directory_index(its.file)];
    keys.push_back({2 * place + (its.timestamp ? 0 : 1), its.timestamp.value_or(0), i});
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    if (a.place != b.place) return a.place < b.place;
    if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
    return rest_of(a) < rest_of(b);
  });
  std::vector<std::size_t> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(key.number);
  return order;
}

}  // namespace fastdump
