// Statistics of the elements of one tensor of a file, streamed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/formats/description.hpp"
#include "core/stream/engine.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

// Of a tensor that is_reducible(), described by its dtype, offset and n_elements alone, by up to
// `threads` threads. `go_on` is asked in this thread, some ten times a second; empty if it says no.
// Throws SystemError, and FormatError if the file does not hold all elements.
std::optional<kernels::Statistics> reduce_file(const std::string& path, TensorDescription tensor,
                                               kernels::Level level, Engine engine, int threads,
                                               const std::function<bool()>& go_on);

}  // namespace fastdump
