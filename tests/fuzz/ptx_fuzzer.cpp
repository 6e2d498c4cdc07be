// libFuzzer's way into ptx_target.h. Every other change of an input is one of statements and numbers (change.h), the rest
// are libFuzzer's own of bytes.
#include "tests/fuzz/change.h"
#include "tests/fuzz/ptx_target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

size_t put(uint8_t* data, const std::string& text, size_t most) {
    const size_t size = std::min(text.size(), most);
    std::memcpy(data, text.data(), size);
    return size;
}

std::string text_of(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    if (size == 0 || seed & 1) return LLVMFuzzerMutate(data, size, most);
    lockstep::Rng rng(seed);
    const std::string text = text_of(data, size);
    return put(data, lockstep::fuzz::changed(text, text, rng), most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* other, size_t other_size,
                                            uint8_t* out, size_t most, unsigned seed) {
    lockstep::Rng rng(seed);
    return put(out, lockstep::fuzz::changed(text_of(one, one_size), text_of(other, other_size), rng), most);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    lockstep::fuzz::try_ptx({reinterpret_cast<const char*>(data), size});
    return 0;
}
