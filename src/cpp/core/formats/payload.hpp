// Where payloads lie, and what of each can be reduced.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formats/description.hpp"

namespace fastdump {

// Of payloads that follow a header back to back: sets offset, n_elements, status and note of every
// tensor, a missing shape where the size tells one, and the file's note. The first payload is at
// byte `begin`, not after `file_size`. Whatever sizes and shapes claim, the elements counted lie
// inside the file. Returns where the last payload ends; `file_size` if the file ends before.
std::uint64_t place_payloads(FileDescription& description, std::uint64_t begin,
                             std::uint64_t file_size);

// The sizes that the header tells, added up; kTooLarge if they do not fit 64 bits.
std::uint64_t sum_of_sizes(const std::vector<TensorDescription>& tensors);

// The bytes of tensors at null addresses, which the writer may have left out of the file although
// their sizes count. 0 if there are none, or if the dump has no addresses at all.
std::uint64_t skippable_nbytes(const FileDescription& description);

// Of payloads whose offset and nbytes are known to lie inside the file: sets the rest.
void count_payloads(FileDescription& description);

}  // namespace fastdump
