// What the CPU can, against what the kernel says of it.
#include "check.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>

#include "kernels/x86_cpu.hpp"

namespace fastdump {
namespace {

std::set<std::string> flags_of_the_first_cpu() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  std::istringstream words(line.substr(line.find(':') + 1));
  std::set<std::string> flags;
  for (std::string word; words >> word;) flags.insert(word);
  return flags;
}

void test_features_are_those_that_the_kernel_lists() {
  const std::set<std::string> flags = flags_of_the_first_cpu();
  const auto has = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (!flags.contains(name)) return false;
    }
    return true;
  };
  CHECK(flags.contains("sse2"));
  const bool avx2 = has({"avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "popcnt"});
  CHECK_EQ(kernels::cpu_has_avx2(), avx2);
  CHECK_EQ(kernels::cpu_has_avx512(), avx2 && has({"avx512f", "avx512cd", "avx512bw", "avx512dq",
                                                   "avx512vl", "avx512vbmi", "avx512_vnni"}));
}

}  // namespace
}  // namespace fastdump

int main() {
  fastdump::test_features_are_those_that_the_kernel_lists();
  return fastdump::tests::exit_code();
}
#else
int main() {}
#endif
