// The heap of the C library.
#include <malloc.h>

#include "core/system/memory.h"

namespace lockstep::system {

void give_back_memory() {
    _heapmin();
}

}  // namespace lockstep::system
