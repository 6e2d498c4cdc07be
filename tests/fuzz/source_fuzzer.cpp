// libFuzzer's way into source_target.h.
#include "tests/fuzz/source_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_source({reinterpret_cast<const char*>(data), size});
    return 0;
}
