#include "core/concurrency/cpu_quota.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string_view>

namespace fastdump {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double quotient(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : kNoLimit;
}

// Version 2: "max 100000" or "400000 100000" in cpu.max.
double quota_of_v2(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? quotient(quota, period) : kNoLimit;
}

// Version 1: two files, and -1 for no limit.
double quota_of_v1(const std::string& group) {
  std::ifstream quota_file(group + "/cpu.cfs_quota_us");
  std::ifstream period_file(group + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period ? quotient(quota, period) : kNoLimit;
}

// The least quota of a group and of those that it lies in: each limits it. A container may see its
// own group as the topmost one, under a path that leads nowhere.
template <class QuotaOf>
double least_quota(const std::string& mount, std::string group, QuotaOf quota_of) {
  double least = kNoLimit;
  for (;;) {
    least = std::min(least, quota_of(mount + group));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

std::optional<int> cpu_quota(const std::string& root) {
  // Lines as "0::/group" of version 2, and "4:cpu,cpuacct:/group" of version 1.
  std::ifstream groups(root + "/proc/self/cgroup");
  double least = kNoLimit;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      least = std::min(least, least_quota(mount, group, quota_of_v2));
    } else if (has_word(controllers, "cpu")) {
      least = std::min(least, least_quota(mount + "/" + controllers, group, quota_of_v1));
      least = std::min(least, least_quota(mount + "/cpu", group, quota_of_v1));
    }
  }
  if (!(least < std::numeric_limits<int>::max())) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(least)));
}

}  // namespace fastdump
