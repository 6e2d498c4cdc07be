// Floating-point operations of one instruction, as rooflines count them: an addition or a multiplication is one, a fused
// multiply-add two, a division, root or special function one; comparisons, conversions and moves none. Atomics add in L2, on
// no pipe of an SM, and do not count. Internal to core/model.
#pragma once
#include "core/model/launch.h"

namespace lockstep::model {

struct Operations {
    struct Scalar {  // thread instructions whose guard held
        uint64_t add = 0, mul = 0, fma = 0, special = 0;
        uint64_t flop = 0;  // two elements in a register count twice
    };
    Scalar f16, f32, f64;  // f16: bf16 too
    // Of tensor cores, by the elements of A, a multiply-add two; f8: e4m3 and e5m2; integer: operations on 1 to 8 bits
    uint64_t tensor_f16 = 0, tensor_bf16 = 0, tensor_tf32 = 0, tensor_f64 = 0, tensor_f8 = 0, tensor_integer = 0;

    uint64_t tensor_flop() const { return tensor_f16 + tensor_bf16 + tensor_tf32 + tensor_f64 + tensor_f8; }
    uint64_t flop() const { return f16.flop + f32.flop + f64.flop + tensor_flop(); }
};

void add_to(Operations& sum, const ptx::DecodedInstruction& instruction, const InstructionCounters& counters);

}  // namespace lockstep::model
