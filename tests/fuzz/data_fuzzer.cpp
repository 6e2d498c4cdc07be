// libFuzzer's way into data_target.h.
#include "tests/fuzz/data_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_data({reinterpret_cast<const char*>(data), size});
    return 0;
}
