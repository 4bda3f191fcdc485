// The CPUs that a control group grants, as files of either version tell.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/concurrency/cpu_quota.hpp"
#include "temporary_directory.hpp"

namespace fastdump {
namespace {

using Files = std::vector<std::pair<std::string_view, std::string_view>>;

std::optional<int> quota_of(const Files& files) {
  const tests::TemporaryDirectory root;
  for (const auto& [name, text] : files) root.write(name, text);
  return cpu_quota(root.path());
}

void test_version_2() {
  const auto with = [](std::string_view limit) {
    return quota_of({{"proc/self/cgroup", "0::/pod/job\n"},
                     {"sys/fs/cgroup/pod/job/cpu.max", limit},
                     {"sys/fs/cgroup/pod/cpu.max", "max 100000\n"}});
  };
  CHECK(with("400000 100000\n") == 4);
  CHECK(with("150000 100000\n") == 2);
  CHECK(with("1000 100000\n") == 1);
  CHECK(with("50000 25000\n") == 2);
  for (const std::string_view none :
       {"max 100000\n", "", "400000", "x y", "0 100000", "1 0", "-1 1"}) {
    CHECK(!with(none));
  }
}

void test_a_parent_limits_its_children() {
  CHECK(quota_of({{"proc/self/cgroup", "0::/pod/job\n"},
                  {"sys/fs/cgroup/pod/job/cpu.max", "800000 100000\n"},
                  {"sys/fs/cgroup/pod/cpu.max", "300000 100000\n"}}) == 3);
  // A container whose own group is the topmost that it sees.
  CHECK(quota_of({{"proc/self/cgroup", "0::/docker/0123\n"},
                  {"sys/fs/cgroup/cpu.max", "200000 100000\n"}}) == 2);
}

void test_version_1() {
  const auto with = [](std::string_view quota) {
    return quota_of({{"proc/self/cgroup", "9:memory:/other\n4:cpu,cpuacct:/pod\n0::/\n"},
                     {"sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", quota},
                     {"sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n"}});
  };
  CHECK(with("250000\n") == 3);
  CHECK(!with("-1\n"));
}

void test_nothing_tells() {
  CHECK(!quota_of({}));
  CHECK(!quota_of({{"proc/self/cgroup", "nonsense\n:\n::\n\n0::"}}));
  CHECK(!quota_of({{"proc/self/cgroup", "1:cpuset:/a\n"},
                   {"sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "100000\n"},
                   {"sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "100000\n"}}));
}

}  // namespace
}  // namespace fastdump

int main() {
  using namespace fastdump;
  test_version_2();
  test_a_parent_limits_its_children();
  test_version_1();
  test_nothing_tells();
  return tests::exit_code();
}
