// What a control group, as containers and batch systems make them, grants a process of the CPUs.
#pragma once

#include <optional>
#include <string>

namespace fastdump {

// CPUs' worth of time that this process may use, rounded up; empty if nothing limits it, or nobody
// tells. The files of the system are looked for below `root`.
std::optional<int> cpu_quota(const std::string& root = "");

}  // namespace fastdump
