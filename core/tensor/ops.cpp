// The list of ops: one line an op, its row in ops/<op>.cpp, its kernels in kernels/.
#include "core/tensor/ops.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

std::span<const OpRow> ops() {
    static const std::vector<OpRow> list = {
        matmul_row, add_bias_row, relu_row, softmax_cross_entropy_row, mse_row, sum_row, mean_row,
    };
    return list;
}

const OpRow& op_named(std::string_view name) {
    std::vector<std::string> known;
    for (const OpRow& row : ops()) {
        if (row.name == name) return row;
        known.emplace_back(row.name);
    }
    const std::string nearest = nearest_name(name, known);
    throw Failure(fmt::format("unknown op '{}'{}", name,
                              nearest.empty() ? std::string() : fmt::format(", did you mean '{}'?", nearest)));
}

Variable add(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(add_row, {a, b}, std::move(name));
}
Variable matmul(Tape& tape, const Variable& a, const Variable& b, NodeName name, bool transpose_b) {
    return tape.apply(matmul_row, {a, b}, std::move(name), {.transpose_b = transpose_b});
}
Variable add_bias(Tape& tape, const Variable& x, const Variable& bias, NodeName name) {
    return tape.apply(add_bias_row, {x, bias}, std::move(name));
}
Variable relu(Tape& tape, const Variable& x, NodeName name) {
    return tape.apply(relu_row, {x}, std::move(name));
}
Variable sum(Tape& tape, const Variable& x, NodeName name) {
    return tape.apply(sum_row, {x}, std::move(name));
}
Variable mean(Tape& tape, const Variable& x, NodeName name) {
    return tape.apply(mean_row, {x}, std::move(name));
}
Variable softmax_cross_entropy(Tape& tape, const Variable& logits, const Variable& labels, NodeName name) {
    return tape.apply(softmax_cross_entropy_row, {logits, labels}, std::move(name));
}
Variable mse(Tape& tape, const Variable& prediction, const Variable& target, NodeName name) {
    return tape.apply(mse_row, {prediction, target}, std::move(name));
}

}  // namespace lockstep::tensor
