// How the tensor cores of a generation sum products of floats. Products are exact. Those of one step and what was summed
// before are lined up under the largest exponent among them (that of a product: the sum of its factors' exponents), each
// cut, not rounded, behind a fixed number of bits, and added as integers; the sum is cut to the bits of f32 and, where it
// is asked for, rounded to the nearest f16 at the end. See core/ptx/README.md for what of this is published, measured,
// guessed.
#pragma once
#include <cstdint>

namespace lockstep::ptx {

struct TensorSums {
    uint32_t since;       // compute capability times ten
    int step_bits;        // of k in one step: 256 are 16 products of f16, 8 of tf32
    int fraction;         // bits kept below the largest exponent
    int fp8_fraction;     // the same where both factors are fp8, and of what is kept of their sum
    bool quads_by_lanes;  // m8n8k4 of f16 is none of the tensor cores', but sums of f32, rounded to nearest
    bool fp8_as_halves;   // mma turns fp8 into f16, sums the products of both halves of a word by themselves and then adds c
};
constexpr TensorSums tensor_sums[] = {
    {70, 64, 23, 13, false, false},
    {75, 64, 24, 13, true, false},
    {80, 128, 24, 13, true, false},
    {90, 256, 25, 13, true, true},
};

}  // namespace lockstep::ptx
