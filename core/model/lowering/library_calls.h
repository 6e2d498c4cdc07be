// Long functions of the CUDA math library in a program: sinf, cosf, tanf, powf, logf, log2f, log10f. Compilers inline them,
// so nothing in PTX names them; they are known by the constants of their polynomials, which are those of libdevice (nvcc,
// NVRTC, Numba, Triton) or of our own headers (clang without libdevice).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/ptx/decode/program.h"

namespace lockstep::model {

struct LibraryFamily {
    struct Name {
        std::string_view accurate, fast;  // "sinf", "__sinf"
    };
    std::string_view words;  // "sine, cosine or tangent"
    std::span<const Name> names;
    uint32_t slots, special;     // of the intrinsic: issue slots, and how many of them take the special function units
    std::string_view precision;  // of the intrinsic: "is good to about 2^-21 between -pi and pi"
};

struct LibraryCall {
    const LibraryFamily* family = nullptr;
    int32_t file = 0, line = 0;  // that the call stands in
    uint32_t carrier = 0;        // one of its instructions that every lane that calls it executes, once
    std::vector<uint32_t> pcs;   // its instructions, by pc; accesses to memory are those to tables and arrays of its own
};

// In the order of their instructions.
std::vector<LibraryCall> library_calls(const ptx::Program& program);

}  // namespace lockstep::model
