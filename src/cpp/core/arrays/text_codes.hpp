// Texts as numbers: equal ones have one number, and numbers are in the order of first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fastdump {

inline constexpr std::int32_t kNullCode = -1;

// Writes the number of each text, kNullCode where `is_null` is not 0, and returns the first row of
// each number.
//
// Text i is what lies in `bytes` from ends[i] - ends[0] to ends[i + 1] - ends[0]; there is one end
// more than texts. `is_null` has a flag for each text, or none if there is no null. Ends that fall,
// or lead out of the bytes, are std::invalid_argument; so are more texts than codes can tell.
std::vector<std::int64_t> code_texts(std::span<const std::int32_t> ends,
                                     std::span<const std::byte> bytes,
                                     std::span<const std::uint8_t> is_null,
                                     std::span<std::int32_t> codes);
std::vector<std::int64_t> code_texts(std::span<const std::int64_t> ends,
                                     std::span<const std::byte> bytes,
                                     std::span<const std::uint8_t> is_null,
                                     std::span<std::int32_t> codes);

}  // namespace fastdump
