// libFuzzer's way into arguments_target.h.
#include "tests/fuzz/arguments_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_arguments({reinterpret_cast<const char*>(data), size});
    return 0;
}
