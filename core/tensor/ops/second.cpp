// Shapes: x [N,C,H,W] of pictures, [..., columns] of rows; q [B,H,T,D], k and v [B,G,S,D].
#include "core/tensor/ops/second.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/ops.h"
#include "core/tensor/ops/expression.h"

namespace lockstep::tensor {

namespace {
Expression mean_over(Tape& tape, const Expression& x, const Shape& axes, const NodeName& name) {
    return {tape, mean(tape, x.variable(), name, axes, true), name};
}

// (x - mean) / sqrt(variance + epsilon) over some axes.
Expression normalised(Tape& tape, const Expression& x, const Shape& axes, double epsilon, const NodeName& name) {
    const Expression centred = x - mean_over(tape, x, axes, name);
    return centred * (epsilon + mean_over(tape, centred.through("square"), axes, name)).through("rsqrt");
}

// The gradients of y, which is the op's output written in plain ops, for those inputs that want one.
void differentiate_as(DifferentiateCall& call, const Variable& y, std::span<const std::pair<size_t, Variable>> inputs) {
    std::vector<Variable> asked;
    for (const auto& [input, variable] : inputs)
        if (call.wants(input)) asked.push_back(variable);
    if (asked.empty()) return;
    const auto found = call.tape.gradients(y, asked, {.create_graph = true}, &call.upstream);
    size_t next = 0;
    for (const auto& [input, variable] : inputs)
        if (call.wants(input)) call.gradients[input] = found[next++];
}

// With a weight, and a bias whose gradient is the upstream's sum; `shape`: that they broadcast in.
void differentiate_norm(DifferentiateCall& call, const Expression& y, const Variable& x, const Shape& shape) {
    const NodeName name = call.label(0);
    std::vector<std::pair<size_t, Variable>> inputs = {{0, x}};
    Variable whole = y.variable();
    if (call.inputs.size() > 1) {
        const Variable weight = call.kept(call.saved.size() - 1);
        inputs.push_back({1, weight});
        whole = mul(call.tape, whole, reshape(call.tape, weight, shape, name), name);
    }
    differentiate_as(call, whole, inputs);
    if (call.inputs.size() > 2 && call.wants(2))
        call.gradients[2] =
            reshape(call.tape, sum_to(call.tape, call.upstream, shape, call.label(2)), call.inputs[2].shape, call.label(2));
}

Shape last_axes(const DifferentiateCall& call) {
    const size_t axes = call.inputs.size() > 1           ? call.inputs[1].shape.size()
                        : !call.attributes.sizes.empty() ? call.attributes.sizes.size()
                                                         : 1;
    Shape all;
    for (size_t i = call.inputs[0].shape.size() - axes; i < call.inputs[0].shape.size(); ++i)
        all.push_back(static_cast<int64_t>(i));
    return all;
}

Shape channel_shape(const Shape& x) {  // [C,1,1]
    Shape shape = {x[1]};
    for (size_t i = 2; i < x.size(); ++i) shape.push_back(1);
    return shape;
}

Window window_of(const Attributes& a) {
    return {.stride = a.stride, .padding = a.padding, .dilation = a.dilation, .groups = a.groups};
}

Variable as_picture(Tape& tape, const Variable& x, const NodeName& name) {  // a sequence has one row
    return x.shape().size() == 4 ? x : unsqueeze(tape, x, 2, name);
}
Shape picture_shape(const Shape& x) {
    return x.size() == 4 ? x : Shape{x[0], x[1], 1, x[2]};
}

// x [N,C,H,W] and its window's result's gradient d [N,F,OH,OW] -> dw [F,C/groups,KH,KW]: x is convolved with d, stride and
// dilation changed about; what the window did not reach of x gives further rows, which are cut off.
Variable weight_gradient(Tape& tape, const Variable& x, const Variable& d, const Shape& w, const Attributes& a,
                         const NodeName& name) {
    std::vector<Variable> parts;
    for (int64_t g = 0; g < a.groups; ++g) {
        const auto part = [&](const Variable& of) {  // channels first
            const int64_t some = of.shape()[1] / a.groups;
            const Variable taken = a.groups == 1 ? of : slice(tape, of, 1, g * some, (g + 1) * some, 1, name);
            return permute(tape, taken, {1, 0, 2, 3}, name);
        };
        Variable made = conv2d(tape, part(x), part(d), {}, name,
                               {.stride = a.dilation, .padding = a.padding, .dilation = a.stride});  // [C,F,KH',KW']
        for (const int64_t axis : {2, 3})
            if (made.shape()[size_t(axis)] > w[size_t(axis)]) made = slice(tape, made, axis, 0, w[size_t(axis)], 1, name);
        parts.push_back(permute(tape, made, {1, 0, 2, 3}, name));
    }
    return parts.size() == 1 ? parts.front() : cat(tape, parts, 0, name);
}

// d [N,F,OH,OW] back to x's shape, by the transposed convolution with the same window.
Variable spread_back(Tape& tape, const Variable& d, const Variable& w, const Shape& x, const Window& window,
                     const NodeName& name) {
    std::array<int64_t, 2> end{};
    for (size_t i = 0; i < 2; ++i)
        end[i] = x[2 + i] - ((d.shape()[2 + i] - 1) * window.stride[i] - 2 * window.padding[i] +
                             window.dilation[i] * (w.shape()[2 + i] - 1) + 1);
    return conv_transpose2d(tape, d, w, {}, name, window, end);
}
}  // namespace

void differentiate_layer_norm(DifferentiateCall& call) {
    const Expression x(call.tape, call.kept(0), call.label(0));
    const Shape axes = last_axes(call);
    differentiate_norm(call, normalised(call.tape, x, axes, call.attributes.alpha, call.label(0)), x.variable(),
                       call.inputs.size() > 1 ? call.inputs[1].shape : Shape{1});
}

void differentiate_rms_norm(DifferentiateCall& call) {
    const NodeName name = call.label(0);
    const Expression x(call.tape, call.kept(0), name);
    const Expression squares = mean_over(call.tape, x.through("square"), last_axes(call), name);
    differentiate_norm(call, x * (call.attributes.alpha + squares).through("rsqrt"), x.variable(),
                       call.inputs.size() > 1 ? call.inputs[1].shape : Shape{1});
}

void differentiate_group_norm(DifferentiateCall& call) {
    Tape& tape = call.tape;
    const NodeName name = call.label(0);
    const Shape& shape = call.inputs[0].shape;
    const Variable x = call.kept(0);
    const Expression rows(tape, reshape(tape, x, {shape[0], call.attributes.groups, -1}, name), name);
    const Expression y = normalised(tape, rows, {2}, call.attributes.alpha, name);
    differentiate_norm(call, {tape, reshape(tape, y.variable(), shape, name), name}, x, channel_shape(shape));
}

// Inputs: x, weight, bias, running mean, running variance; or x and the two statistics. What was kept: x, mean, variance
// and the weight.
void differentiate_batch_norm(DifferentiateCall& call) {
    Tape& tape = call.tape;
    const NodeName name = call.label(0);
    const Shape& shape = call.inputs[0].shape;
    const Attributes& a = call.attributes;
    const bool has_weight = call.inputs.size() > 3;
    const Variable x = call.kept(0);
    const Expression given(tape, x, name);
    const size_t running = call.inputs.size() - 2;  // mean, then variance
    std::vector<std::pair<size_t, Variable>> inputs = {{0, x}};
    Variable y;
    if (a.training) {  // nothing depends on the running statistics
        for (size_t input = running; input < running + 2; ++input)
            if (call.wants(input))
                call.gradients[input] =
                    tape.input(tensor_from(tape.heap(), call.inputs[input].shape, std::vector<double>(size_t(shape[1])),
                                           call.label(input).text, Purpose::gradient, call.inputs[input].dtype),
                               call.label(input));
        Shape parts = {a.groups, shape[0] / a.groups}, axes = {1};  // [ghosts, N / ghosts, C, ...]
        for (size_t i = 1; i < shape.size(); ++i) {
            parts.push_back(shape[i]);
            if (i > 1) axes.push_back(static_cast<int64_t>(i + 1));
        }
        const Expression ghosts(tape, reshape(tape, x, parts, name), name);
        y = reshape(tape, normalised(tape, ghosts, axes, a.alpha, name).variable(), shape, name);
    } else {
        const auto statistic = [&](size_t kept) {  // a leaf: a third derivative does not see the running statistics
            const Tensor& t = call.saved[kept].tensor;
            const size_t input = running + kept - 1;
            Variable leaf = tape.input(reshaped(t, call.inputs[input].shape), name, call.wants(input));
            if (t.dtype != x.dtype()) leaf = tape.input(cast(tape, leaf, x.dtype(), name).value, name, call.wants(input));
            inputs.push_back({input, leaf});
            return Expression(tape, reshape(tape, leaf, channel_shape(shape), name), name);
        };
        y = ((given - statistic(1)) * (a.alpha + statistic(2)).through("rsqrt")).variable();
    }
    if (has_weight) {
        const Variable weight = call.kept(3);
        inputs.push_back({1, weight});
        y = mul(tape, y, reshape(tape, weight, channel_shape(shape), name), name);
        if (call.wants(2))
            call.gradients[2] = reshape(tape, sum_to(tape, call.upstream, channel_shape(shape), call.label(2)),
                                        call.inputs[2].shape, call.label(2));
    }
    differentiate_as(call, y, inputs);
}

void differentiate_attention(DifferentiateCall& call) {
    Tape& tape = call.tape;
    const NodeName name = call.label(0);
    const bool positions_first = call.attributes.mode == 1;
    const Variable q = call.kept(0), k = call.kept(1), v = call.kept(2);
    const auto heads_first = [&](const Variable& x) { return positions_first ? permute(tape, x, {0, 2, 1, 3}, name) : x; };
    const Variable queries = heads_first(q);
    const int64_t heads = queries.shape()[1], d = queries.shape()[3];
    const auto for_every_head = [&](const Variable& x) {  // [B,G,S,D] -> [B,H,S,D], each group's for its heads
        const Variable some = heads_first(x);
        const Shape from = some.shape();
        if (from[1] == heads) return some;
        const Variable repeated = expand(tape, reshape(tape, some, {from[0], from[1], 1, from[2], from[3]}, name),
                                         {from[0], from[1], heads / from[1], from[2], from[3]}, name);
        return reshape(tape, repeated, {from[0], heads, from[2], from[3]}, name);
    };
    const double scale = call.attributes.alpha != 0 ? call.attributes.alpha : 1 / std::sqrt(double(d));
    const Variable scores = affine(tape, matmul(tape, queries, for_every_head(k), name, true), scale, 0, name);
    const Variable weights = call.attributes.causal ? softmax_causal(tape, scores, name) : softmax(tape, scores, 3, name);
    const Variable y = heads_first(matmul(tape, weights, for_every_head(v), name));
    const std::pair<size_t, Variable> inputs[] = {{0, q}, {1, k}, {2, v}};
    differentiate_as(call, y, inputs);
}

void differentiate_conv2d(DifferentiateCall& call) {
    Tape& tape = call.tape;
    const Shape x = picture_shape(call.inputs[0].shape), w = picture_shape(call.inputs[1].shape);
    const Variable d = as_picture(tape, call.upstream, call.label(0));
    const auto as_input = [&](size_t input, const Variable& gradient) {
        call.gradients[input] = reshape(tape, gradient, call.inputs[input].shape, call.label(input));
    };
    if (call.wants(0))
        as_input(0, spread_back(tape, d, as_picture(tape, call.kept(1), call.label(0)), x, window_of(call.attributes),
                                call.label(0)));
    if (call.wants(1))
        as_input(1,
                 weight_gradient(tape, as_picture(tape, call.kept(0), call.label(1)), d, w, call.attributes, call.label(1)));
    if (call.inputs.size() > 2 && call.wants(2)) call.gradients[2] = sum(tape, d, call.label(2), {0, 2, 3});
}

void differentiate_conv_transpose2d(DifferentiateCall& call) {
    Tape& tape = call.tape;
    if (call.wants(0))
        call.gradients[0] = conv2d(tape, call.upstream, call.kept(1), {}, call.label(0), window_of(call.attributes));
    if (call.wants(1))
        call.gradients[1] =
            weight_gradient(tape, call.upstream, call.kept(0), call.inputs[1].shape, call.attributes, call.label(1));
    if (call.inputs.size() > 2 && call.wants(2)) call.gradients[2] = sum(tape, call.upstream, call.label(2), {0, 2, 3});
}

// Each largest value's place gets the gradient: index [N,C,OH,OW] counts places of a plane.
void differentiate_max_pool2d(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    Tape& tape = call.tape;
    const NodeName name = call.label(0);
    const Shape& x = call.inputs[0].shape;
    const Tensor& index = call.saved[0].tensor;
    const int64_t planes = x[0] * x[1], places = index.count() / planes;
    const std::vector<double> nothing(static_cast<size_t>(count_of(x)));
    const Variable zeros = tape.input(
        tensor_from(tape.heap(), {planes, x[2] * x[3]}, nothing, name.text, Purpose::data, call.upstream.dtype()), name);
    const Variable where = tape.label(reshaped(index, {planes, places}), name);
    const Variable d = reshape(tape, call.upstream, {planes, places}, name);
    call.gradients[0] = reshape(tape, scatter_add(tape, zeros, where, d, 1, name), x, name);
}

// A transposed convolution of each channel with the window's shares; mode 1: a window's share does not count padding.
void differentiate_avg_pool2d(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    Tape& tape = call.tape;
    const NodeName name = call.label(0);
    const Attributes& a = call.attributes;
    const Shape &x = call.inputs[0].shape, out = call.upstream.shape();
    const auto constant = [&](const Shape& shape, const std::vector<double>& values) {
        return tape.input(tensor_from(tape.heap(), shape, values, name.text, Purpose::data, call.upstream.dtype()), name);
    };
    const auto inside_of = [&](int64_t at, size_t i) {  // places of the window there that are not padding
        const int64_t first = at * a.stride[i] - a.padding[i];
        return std::min(first + a.kernel[i], x[2 + i]) - std::max<int64_t>(first, 0);
    };
    std::vector<double> share;
    for (int64_t row = 0; row < out[2]; ++row)
        for (int64_t column = 0; column < out[3]; ++column)
            share.push_back(1.0 /
                            double(a.mode == 0 ? a.kernel[0] * a.kernel[1] : inside_of(row, 0) * inside_of(column, 1)));
    const Variable d = mul(tape, call.upstream, constant({1, 1, out[2], out[3]}, share), name);
    const Variable ones = constant({x[1], 1, a.kernel[0], a.kernel[1]},
                                   std::vector<double>(static_cast<size_t>(x[1] * a.kernel[0] * a.kernel[1]), 1.0));
    call.gradients[0] = spread_back(tape, d, ones, x, {.stride = a.stride, .padding = a.padding, .groups = x[1]}, name);
}

// dW = one-hot(indices)ᵀ d: each place's gradient is added to its row. The padding's row, mode - 1, gets none.
void differentiate_embedding(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    Tape& tape = call.tape;
    const NodeName name = call.label(0);
    const int64_t rows = call.inputs[0].shape[0], width = call.inputs[0].shape[1];
    const Variable chosen = reshape(tape, one_hot(tape, call.kept(0), rows, name, call.upstream.dtype()), {-1, rows}, name);
    const Variable d = reshape(tape, call.upstream, {-1, width}, name);
    Variable made = matmul(tape, transpose(tape, chosen, 0, 1, name), d, name);
    if (call.attributes.mode > 0) {
        std::vector<double> kept(static_cast<size_t>(rows), 1.0);
        kept[static_cast<size_t>(call.attributes.mode - 1)] = 0;
        made =
            mul(tape, made,
                tape.input(tensor_from(tape.heap(), {rows, 1}, kept, name.text, Purpose::data, made.dtype()), name), name);
    }
    call.gradients[0] = made;
}

}  // namespace lockstep::tensor
