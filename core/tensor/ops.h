// The list of ops, and what model code calls: each records one node on the tape.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/op.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

std::span<const OpRow> ops();
const OpRow& op_named(std::string_view name);  // throws Failure with the nearest name

// a + b, broadcast by NumPy's rule.
Variable add(Tape&, const Variable& a, const Variable& b, NodeName name);
// [..., K] [K,N] -> [..., N]; transpose_b: [..., K] [N,K] -> [..., N].
Variable matmul(Tape&, const Variable& a, const Variable& b, NodeName name, bool transpose_b = false);
Variable add_bias(Tape&, const Variable& x, const Variable& bias, NodeName name);  // [..., C] [C] -> [..., C]
Variable relu(Tape&, const Variable& x, NodeName name);
Variable sum(Tape&, const Variable& x, NodeName name);   // -> []
Variable mean(Tape&, const Variable& x, NodeName name);  // -> []
// Means over the batch, -> []. Shapes must agree exactly: nothing broadcasts.
Variable softmax_cross_entropy(Tape&, const Variable& logits, const Variable& labels, NodeName name);
Variable mse(Tape&, const Variable& prediction, const Variable& target, NodeName name);

}  // namespace lockstep::tensor
