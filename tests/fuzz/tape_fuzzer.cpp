// libFuzzer's way into tape_target.h.
#include "tests/fuzz/tape_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_tape({reinterpret_cast<const char*>(data), size});
    return 0;
}
