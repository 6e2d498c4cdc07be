// glibc keeps what is freed in the middle of its heaps until it is asked.
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "core/system/memory.h"

namespace lockstep::system {

void give_back_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace lockstep::system
