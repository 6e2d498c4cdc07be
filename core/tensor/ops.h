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

// [M,K] [K,N] -> [M,N]; transpose_b: [M,K] [N,K] -> [M,N].
Variable matmul(Tape&, const Variable& a, const Variable& b, const std::string& name, bool transpose_b = false);
Variable add_bias(Tape&, const Variable& x, const Variable& bias, const std::string& name);  // [R,C] [C] -> [R,C]
Variable relu(Tape&, const Variable& x, const std::string& name);
Variable sum(Tape&, const Variable& x, const std::string& name);   // -> []
Variable mean(Tape&, const Variable& x, const std::string& name);  // -> []
// Means over the batch, -> []. Shapes must agree exactly: nothing broadcasts.
Variable softmax_cross_entropy(Tape&, const Variable& logits, const Variable& labels, const std::string& name);
Variable mse(Tape&, const Variable& prediction, const Variable& target, const std::string& name);

}  // namespace lockstep::tensor
