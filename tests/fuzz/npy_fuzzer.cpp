// libFuzzer's way into npy_target.h.
#include "tests/fuzz/npy_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_npy({reinterpret_cast<const char*>(data), size});
    return 0;
}
