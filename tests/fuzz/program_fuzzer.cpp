// libFuzzer's way into program_target.h.
#include "tests/fuzz/program_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_program({reinterpret_cast<const char*>(data), size});
    return 0;
}
