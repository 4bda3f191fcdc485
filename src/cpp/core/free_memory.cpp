#include "core/free_memory.hpp"

#if defined(__linux__)
#include <features.h>  // tells whether this is glibc
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace fastdump {

void give_back_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace fastdump
