// libFuzzer's way into lesson_target.h.
#include "tests/fuzz/lesson_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_lesson({reinterpret_cast<const char*>(data), size});
    return 0;
}
