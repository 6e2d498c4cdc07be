// Floating-point operations of one instruction, as rooflines count them: an addition or a multiplication is one, a fused
// multiply-add two, a division, root or special function one; comparisons, conversions and moves none. Atomics add in L2, on
// no pipe of an SM, and do not count. Internal to core/model.
#pragma once
#include "core/model/launch/launch.h"

namespace lockstep::model {

struct Operations {
    struct Scalar {  // thread instructions whose guard held
        uint64_t add = 0, mul = 0, fma = 0, special = 0;
        uint64_t flop = 0;  // two elements in a register count twice
    };
    Scalar f16, f32, f64;  // f16: bf16 too
    // Of tensor cores, by the elements of A, a multiply-add two; f8: e4m3 and e5m2
    uint64_t tensor_f16_f16 = 0, tensor_f16_f32 = 0;  // f16 with results of f16, of f32
    uint64_t tensor_bf16 = 0, tensor_tf32 = 0, tensor_f64 = 0, tensor_f8 = 0;
    uint64_t tensor_i8 = 0, tensor_i4 = 0, tensor_i1 = 0;

    uint64_t tensor_f16() const { return tensor_f16_f16 + tensor_f16_f32; }
    uint64_t tensor_integer() const { return tensor_i8 + tensor_i4 + tensor_i1; }
    uint64_t tensor_flop() const { return tensor_f16() + tensor_bf16 + tensor_tf32 + tensor_f64 + tensor_f8; }
    uint64_t flop() const { return f16.flop + f32.flop + f64.flop + tensor_flop(); }
};

// Of a product of matrices, a warp's part: a quarter of a warpgroup's product, all four of m8n8k4 with f16, of which each
// quarter of a warp has its own; of sparse ones the half that is not zero.
uint64_t multiply_adds(const ptx::DecodedInstruction& instruction);

void add_to(Operations& sum, const ptx::DecodedInstruction& instruction, const InstructionCounters& counters);

}  // namespace lockstep::model
