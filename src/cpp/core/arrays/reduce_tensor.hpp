// Statistics of one tensor, wherever its elements lie.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/reduce/reduction.hpp"
#include "core/stream/engine.hpp"
#include "kernels/block.hpp"

namespace fastdump {

// By up to `threads` threads. `go_on` is asked in this thread, some ten times a second; the result
// is empty if it says no.
std::optional<Reduction::Result> reduce_tensor(const std::shared_ptr<Source>& source,
                                               ReducedTensor tensor, kernels::Level level,
                                               Engine engine, int threads,
                                               const std::function<bool()>& go_on);

}  // namespace fastdump
