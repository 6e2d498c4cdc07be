// libFuzzer's way into host_target.h.
#include "tests/fuzz/host_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_host({reinterpret_cast<const char*>(data), size});
    return 0;
}
