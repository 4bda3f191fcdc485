// Statistics of the elements of one tensor of a file, streamed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/stream/engine.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

// Reduces the packed elements that begin at byte `offset`, by up to `threads` threads. `go_on` is
// asked in this thread, some ten times a second; the result is empty if it says no. Throws
// SystemError, and FormatError if the file does not hold all elements.
std::optional<kernels::Statistics> reduce_file(const std::string& path, kernels::Element element,
                                               std::uint64_t offset, std::uint64_t n_elements,
                                               kernels::Level level, Engine engine, int threads,
                                               const std::function<bool()>& go_on);

}  // namespace fastdump
