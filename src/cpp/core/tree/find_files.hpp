// All files below some roots, listed by threads of its own.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/tree/walk.hpp"

namespace fastdump {

// Less of them after `stop`. Throws SystemError for a root that cannot be looked at.
FileTree find_files(const std::vector<std::string>& roots, const WalkOptions& options,
                    const std::atomic<bool>& stop);

}  // namespace fastdump
