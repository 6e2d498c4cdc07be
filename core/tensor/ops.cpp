// Ops by name, and what model code calls: each records one node.
#include "core/tensor/ops.h"

#include <fmt/format.h>

#include <numeric>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/tensor/cheap_ops.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

std::span<const OpRow> ops() {
#define ROW(name) name##_row,
    static const std::vector<OpRow> list = {LOCKSTEP_OPS(ROW)};
#undef ROW
    return list;
}

const OpRow& op_named(std::string_view name) {
    for (const OpRow& row : ops())
        if (row.name == name) return row;
    std::vector<std::string> known;
    for (const OpRow& row : ops()) known.emplace_back(row.name);
    throw Failure(fmt::format("unknown op '{}'{}", name, did_you_mean(std::string(name), known, "")));
}

Variable add(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(add_row, {a, b}, std::move(name));
}
Variable sub(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(sub_row, {a, b}, std::move(name));
}
Variable mul(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(mul_row, {a, b}, std::move(name));
}
Variable div(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(div_row, {a, b}, std::move(name));
}
Variable pow(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(pow_row, {a, b}, std::move(name));
}
Variable maximum(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(maximum_row, {a, b}, std::move(name));
}
Variable minimum(Tape& tape, const Variable& a, const Variable& b, NodeName name) {
    return tape.apply(minimum_row, {a, b}, std::move(name));
}

Variable unary(Tape& tape, std::string_view op, const Variable& x, NodeName name) {
    return tape.apply(op_named(op), {x}, std::move(name));
}
Variable relu(Tape& tape, const Variable& x, NodeName name) {
    return tape.apply(relu_row, {x}, std::move(name));
}
Variable leaky_relu(Tape& tape, const Variable& x, double slope, NodeName name) {
    return tape.apply(leaky_relu_row, {x}, std::move(name), {.alpha = slope});
}
Variable elu(Tape& tape, const Variable& x, double alpha, NodeName name) {
    return tape.apply(elu_row, {x}, std::move(name), {.alpha = alpha});
}
Variable clamp(Tape& tape, const Variable& x, double low, double high, NodeName name) {
    return tape.apply(clamp_row, {x}, std::move(name), {.alpha = low, .beta = high});
}
Variable affine(Tape& tape, const Variable& x, double scale, double add, NodeName name) {
    return tape.apply(affine_row, {x}, std::move(name), {.alpha = scale, .beta = add});
}
Variable pow_scalar(Tape& tape, const Variable& x, double exponent, NodeName name) {
    return tape.apply(pow_scalar_row, {x}, std::move(name), {.alpha = exponent});
}

Variable matmul(Tape& tape, const Variable& a, const Variable& b, NodeName name, bool transpose_b) {
    if (a.shape().size() == 1 || b.shape().size() == 1) {  // a vector is a row on the left, a column on the right
        const bool row_a = a.shape().size() == 1, column_b = b.shape().size() == 1;
        const Variable wide_a = row_a ? unsqueeze(tape, a, 0, name) : a, wide_b = column_b ? unsqueeze(tape, b, 1, name) : b;
        Variable c = matmul(tape, wide_a, wide_b, name, transpose_b && !column_b);
        if (column_b) c = squeeze(tape, c, -1, name);
        return row_a ? squeeze(tape, c, column_b ? -1 : -2, name) : c;
    }
    const OpRow& row = b.shape().size() > 2 ? bmm_row : matmul_row;
    return tape.apply(row, {a, b}, std::move(name), {.transpose_b = transpose_b});
}
Variable add_bias(Tape& tape, const Variable& x, const Variable& bias, NodeName name) {
    return tape.apply(add_bias_row, {x, bias}, std::move(name));
}

Variable sum(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(sum_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable mean(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(mean_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable amax(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(amax_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable amin(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(amin_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable prod(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(prod_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable var(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim, int correction) {
    return tape.apply(var_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes, .alpha = double(correction)});
}
Variable argmax(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(argmax_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable argmin(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    return tape.apply(argmin_row, {x}, std::move(name), {.keepdim = keepdim, .axes = axes});
}
Variable cumsum(Tape& tape, const Variable& x, int64_t axis, NodeName name) {
    return tape.apply(cumsum_row, {x}, std::move(name), {.axis = axis});
}

// m + log(sum(e^(x - m))), m the largest, brought into the finite range: a row of -inf gives -inf.
Variable logsumexp(Tape& tape, const Variable& x, NodeName name, const Shape& axes, bool keepdim) {
    const Variable largest = detach(tape, clamp(tape, amax(tape, x, name, axes, true), -3e38, 3e38, name), name);
    const Variable powers = unary(tape, "exp", sub(tape, x, largest, name), name);
    const Variable total = unary(tape, "log", sum(tape, powers, name, axes, true), name);
    const Variable result = add(tape, total, largest, name);
    if (keepdim) return result;
    const TensorType type{x.shape(), x.dtype()};
    const Shape shape = sum_row.shape(std::span(&type, 1), {.axes = axes});
    return reshape(tape, result, shape, std::move(name));
}

Variable sum_to(Tape& tape, const Variable& x, const Shape& shape, NodeName name) {
    if (x.shape() == shape) return x;
    const size_t lead = x.shape().size() - std::min(x.shape().size(), shape.size());
    Shape axes;
    for (size_t i = 0; i < x.shape().size(); ++i)
        if (i < lead || (shape[i - lead] == 1 && x.shape()[i] != 1)) axes.push_back(static_cast<int64_t>(i));
    const Variable summed = axes.empty() ? x : sum(tape, x, name, axes, true);
    return summed.shape() == shape ? summed : reshape(tape, summed, shape, std::move(name));
}

Variable reshape(Tape& tape, const Variable& x, const Shape& shape, NodeName name) {
    return tape.apply(reshape_row, {x}, std::move(name), {.sizes = shape});
}
Variable unsqueeze(Tape& tape, const Variable& x, int64_t axis, NodeName name) {
    return tape.apply(unsqueeze_row, {x}, std::move(name), {.axis = axis});
}
Variable squeeze(Tape& tape, const Variable& x, int64_t axis, NodeName name) {
    return tape.apply(squeeze_row, {x}, std::move(name), {.axis = axis});
}
Variable permute(Tape& tape, const Variable& x, const Shape& axes, NodeName name) {
    return tape.apply(permute_row, {x}, std::move(name), {.axes = axes});
}
Variable transpose(Tape& tape, const Variable& x, int64_t a, int64_t b, NodeName name) {
    Shape axes = Shape::filled(x.shape().size(), 0);
    std::iota(axes.begin(), axes.end(), int64_t{0});
    std::swap(axes[axis_of(a, axes.size())], axes[axis_of(b, axes.size())]);
    return permute(tape, x, axes, std::move(name));
}
Variable slice(Tape& tape, const Variable& x, int64_t axis, int64_t start, int64_t stop, int64_t step, NodeName name) {
    return tape.apply(slice_row, {x}, std::move(name), {.axis = axis, .start = start, .stop = stop, .step = step});
}
Variable select(Tape& tape, const Variable& x, int64_t axis, int64_t index, NodeName name) {
    return tape.apply(select_row, {x}, std::move(name), {.axis = axis, .start = index});
}
Variable expand(Tape& tape, const Variable& x, const Shape& shape, NodeName name) {
    return tape.apply(expand_row, {x}, std::move(name), {.sizes = shape});
}
Variable detach(Tape& tape, const Variable& x, NodeName name) {
    return tape.apply(detach_row, {x}, std::move(name));
}

Variable cat(Tape& tape, std::span<const Variable> pieces, int64_t axis, NodeName name) {
    return tape.apply(cat_row, pieces, std::move(name), {.axis = axis});
}
Variable stack(Tape& tape, std::span<const Variable> pieces, int64_t axis, NodeName name) {
    std::vector<Variable> single;
    for (const Variable& piece : pieces) single.push_back(unsqueeze(tape, piece, axis, name));
    return cat(tape, single, axis, std::move(name));
}

static Variable broadcast_to(Tape& tape, const Variable& x, const Shape& shape, const NodeName& name) {
    return x.shape() == shape ? x : expand(tape, x, shape, name);
}
Variable where(Tape& tape, const Variable& condition, const Variable& a, const Variable& b, NodeName name) {
    const Shape shape = broadcast(broadcast(condition.shape(), a.shape()), b.shape());
    return tape.apply(
        where_row,
        {broadcast_to(tape, condition, shape, name), broadcast_to(tape, a, shape, name), broadcast_to(tape, b, shape, name)},
        name);
}
Variable compare(Tape& tape, std::string_view op, const Variable& a, const Variable& b, NodeName name) {
    const Shape shape = broadcast(a.shape(), b.shape());
    return tape.apply(op_named(op), {broadcast_to(tape, a, shape, name), broadcast_to(tape, b, shape, name)}, name);
}
Variable cast(Tape& tape, const Variable& x, DType type, NodeName name) {
    return tape.apply(cast_row, {x}, std::move(name), {.dtype = type});
}
Variable flip(Tape& tape, const Variable& x, int64_t axis, NodeName name) {
    return tape.apply(flip_row, {x}, std::move(name), {.axis = axis});
}
Variable pad(Tape& tape, const Variable& x, const Shape& before, const Shape& after, NodeName name) {
    if (before.size() != x.shape().size() || after.size() != before.size())
        throw Failure(fmt::format("{}: {} is padded by {} before and {} after: one number an axis", name.text,
                                  text_of(x.shape()), text_of(before), text_of(after)));
    Variable padded = x;
    for (size_t i = 0; i < before.size(); ++i) {
        if (before[i] == 0 && after[i] == 0) continue;
        if (before[i] < 0 || after[i] < 0)
            throw Failure(fmt::format("{}: padding by {} and {} is impossible: 0 or more", name.text, before[i], after[i]));
        Shape whole = padded.shape();
        const int64_t extent = whole[i];
        whole[i] += before[i] + after[i];
        padded =
            tape.apply(put_slice_row, {padded}, name,
                       {.axis = static_cast<int64_t>(i), .sizes = whole, .start = before[i], .stop = before[i] + extent});
    }
    return padded;
}
Variable tril(Tape& tape, const Variable& x, int64_t diagonal, NodeName name) {
    return tape.apply(tril_row, {x}, std::move(name), {.start = diagonal});
}

Variable softmax_cross_entropy(Tape& tape, const Variable& logits, const Variable& labels, NodeName name) {
    return tape.apply(softmax_cross_entropy_row, {logits, labels}, std::move(name));
}
Variable mse(Tape& tape, const Variable& prediction, const Variable& target, NodeName name) {
    return tape.apply(mse_row, {prediction, target}, std::move(name));
}

}  // namespace lockstep::tensor
