// What every loss over classes refuses, in the same words. Internal to the losses.
#pragma once
#include "core/tensor/op.h"

namespace lockstep::tensor {

// Throws Failure with the largest label, the first example that has it, and the classes that there are.
[[noreturn]] void refuse_label(const ForwardCall& call, const Tensor& logits, const Tensor& labels);

}  // namespace lockstep::tensor
