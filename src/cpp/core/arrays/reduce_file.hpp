// Statistics of the elements of one tensor of a file, streamed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/io/file_state.hpp"
#include "core/stream/engine.hpp"
#include "kernels/partial.hpp"

namespace fastdump {

// Reduces the packed elements that begin at byte `offset` of a file that has to be, and to stay, in
// the state in which its header was read, by up to `threads` threads. `go_on` is asked in this
// thread, some ten times a second; the result is empty if it says no. Throws SystemError and
// FileChangedError, and FormatError if the file does not hold all elements.
std::optional<kernels::Statistics> reduce_file(const std::string& path, FileState expected,
                                               kernels::Element element, std::uint64_t offset,
                                               std::uint64_t n_elements, kernels::Level level,
                                               Engine engine, int threads,
                                               const std::function<bool()>& go_on);

}  // namespace fastdump
