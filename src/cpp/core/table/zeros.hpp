// Memory that reads as zeros and takes up none: the system gives a page only to who writes to it.
#pragma once

#include <cstddef>

namespace fastdump {

// At least so many zero bytes, aligned as pages are, for as long as the process lives. Callers
// share them.
const void* zeros(std::size_t nbytes);

}  // namespace fastdump
