// Normalisations of what belongs together in one example: layer_norm and rms_norm over the last axes
// (kernels/norm_layer.cu), group_norm over groups of an image's channels (norm_group.cu). Inputs: x, then weight, then bias,
// or fewer. attributes.alpha is epsilon. layer_norm and rms_norm take the weight's axes, attributes.sizes where there is no
// weight, and the last axis where there are no sizes. Each keeps x, the weight and its statistics, which are f32 (f64 for
// f64).
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/layer.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/second.h"

namespace lockstep::tensor {

namespace {
// Of the last axes that are normalised together.
int64_t columns_of(Types in, const Attributes& a) {
    return in.size() > 1 ? in[1].count() : !a.sizes.empty() ? count_of(a.sizes) : in[0].shape.back();
}
struct Rows {
    int64_t rows, columns;
};
Rows rows_of(const Tensor& x, int64_t columns) {
    return {x.count() / columns, columns};
}
int64_t columns_of(const ForwardCall& call) {
    const Attributes& a = call.attributes;
    return call.inputs.size() > 1 ? call.inputs[1].count()
           : !a.sizes.empty()     ? count_of(a.sizes)
                                  : call.inputs[0].shape.back();
}

Shape layer_shape(Types in, const Attributes& a, size_t most) {
    const Shape& x = in[0].shape;
    if (in.size() > most) throw Failure(fmt::format("takes at most {} tensors, not {}", most, in.size()));
    if (x.empty() || count_of(x) == 0) throw Failure(fmt::format("shape {} has no rows to normalise", text_of(x)));
    const Shape last = in.size() > 1 ? in[1].shape : !a.sizes.empty() ? a.sizes : Shape{x.back()};
    if (last.size() > x.size() || !std::equal(last.begin(), last.end(), x.end() - std::ptrdiff_t(last.size())))
        throw Failure(fmt::format("a weight of shape {} does not fit the last axes of {}", text_of(last), text_of(x)));
    if (in.size() > 2 && in[2].shape != last)
        throw Failure(
            fmt::format("a bias of shape {} does not fit a weight of shape {}", text_of(in[2].shape), text_of(last)));
    return x;
}

int32_t affine_of(size_t inputs) {  // as the kernels take it: 0 neither, 1 weight, 2 both
    return static_cast<int32_t>(inputs) - 1;
}

void layer_forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const auto [rows, columns] = rows_of(x, columns_of(call));
    const Tensor &weight = call.inputs.size() > 1 ? call.inputs[1] : x, &bias = call.inputs.size() > 2 ? call.inputs[2] : x;
    const DType type = sum_type(call.dtype);
    const Tensor mean = call.temporary({rows}, "mean", type), inverse = call.temporary({rows}, "inverse", type);
    call.launch(warp_a_row("layer_norm", rows,
                           {x.pointer(), weight.pointer(), bias.pointer(), call.output.pointer(), mean.pointer(),
                            inverse.pointer(), affine_of(call.inputs.size()), size_argument(rows), size_argument(columns),
                            scalar_argument(call.attributes.alpha, call.dtype)}));
    call.save_input(0);
    call.save("mean", mean);
    call.save("inverse", inverse);
    if (call.inputs.size() > 1) call.save_input(1);
}
void layer_backward(BackwardCall& call) {
    const Tensor &x = call.kept(0), &mean = call.kept(1), &inverse = call.kept(2), &dy = call.upstream;
    const size_t inputs = call.inputs.size();
    const auto [rows, columns] = rows_of(x, columns_of(call.inputs, call.attributes));
    if (inputs > 1 && (call.wants(1) || (inputs > 2 && call.wants(2)))) {
        const Tensor& dweight = call.allocate(1);
        const Tensor& dbias = inputs > 2 ? call.allocate(2) : dy;  // not written where there is none
        call.launch(1,
                    block_of_columns("layer_norm_weight_grad", columns,
                                     {x.pointer(), mean.pointer(), inverse.pointer(), dy.pointer(), dbias.pointer(),
                                      dweight.pointer(), affine_of(inputs), size_argument(rows), size_argument(columns)}));
        if (inputs > 2) call.ready[2] = call.ready[1];
    }
    if (call.wants(0)) {
        const Tensor& dx = call.allocate(0);
        call.launch(
            0, warp_a_row("layer_norm_backward", rows,
                          {x.pointer(), (inputs > 1 ? call.kept(3) : x).pointer(), mean.pointer(), inverse.pointer(),
                           dy.pointer(), dx.pointer(), affine_of(inputs), size_argument(rows), size_argument(columns)}));
    }
}
// Operations a value: mean 1, variance 3, normalise 2, weight and bias 2; backward: dx 9, weights 5.
OpCost layer_cost(Types in, const Attributes& a) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype)), s = double(size_of(sum_type(in[0].dtype)));
    const double columns = double(columns_of(in, a)), rows = n / columns;
    const double weight = in.size() > 1 ? columns : 0, bias = in.size() > 2 ? columns : 0;
    OpCost cost = {{8 * n, e * (2 * n + weight + bias) + 2 * s * rows}, {9 * n, e * (3 * n + weight) + 2 * s * rows}};
    if (weight > 0) cost.backward += {5 * n, e * (2 * n + weight + bias) + 2 * s * rows};
    return cost;
}

void rms_forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const auto [rows, columns] = rows_of(x, columns_of(call));
    const Tensor& weight = call.inputs.size() > 1 ? call.inputs[1] : x;
    const Tensor inverse = call.temporary({rows}, "inverse", sum_type(call.dtype));
    call.launch(
        warp_a_row("rms_norm", rows,
                   {x.pointer(), weight.pointer(), call.output.pointer(), inverse.pointer(), affine_of(call.inputs.size()),
                    size_argument(rows), size_argument(columns), scalar_argument(call.attributes.alpha, call.dtype)}));
    call.save_input(0);
    call.save("inverse", inverse);
    if (call.inputs.size() > 1) call.save_input(1);
}
void rms_backward(BackwardCall& call) {
    const Tensor &x = call.kept(0), &inverse = call.kept(1), &dy = call.upstream;
    const size_t inputs = call.inputs.size();
    const auto [rows, columns] = rows_of(x, columns_of(call.inputs, call.attributes));
    if (inputs > 1 && call.wants(1)) {
        const Tensor& dweight = call.allocate(1);
        call.launch(1, block_of_columns("rms_norm_weight_grad", columns,
                                        {x.pointer(), inverse.pointer(), dy.pointer(), dweight.pointer(),
                                         size_argument(rows), size_argument(columns)}));
    }
    if (call.wants(0)) {
        const Tensor& dx = call.allocate(0);
        call.launch(0, warp_a_row("rms_norm_backward", rows,
                                  {x.pointer(), (inputs > 1 ? call.kept(2) : x).pointer(), inverse.pointer(), dy.pointer(),
                                   dx.pointer(), affine_of(inputs), size_argument(rows), size_argument(columns)}));
    }
}
// Operations a value: squares 2, scale 1, weight 1; backward: dx 7, weight 3.
OpCost rms_cost(Types in, const Attributes& a) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype)), s = double(size_of(sum_type(in[0].dtype)));
    const double columns = double(columns_of(in, a)), rows = n / columns, weight = in.size() > 1 ? columns : 0;
    OpCost cost = {{4 * n, e * (2 * n + weight) + s * rows}, {7 * n, e * (3 * n + weight) + s * rows}};
    if (weight > 0) cost.backward += {3 * n, e * (2 * n + weight) + s * rows};
    return cost;
}

std::vector<Sample> layer_samples(Rng& rng) {
    const int64_t columns = 33 + int64_t(rng.below(40));
    return {{{{2, 3}}, {.alpha = 1e-5}},
            {{{3, 7}, {7}}, {.alpha = 1e-5}},
            {{{2, 3, 5}, {5}, {5}}, {.alpha = 1e-2}},
            {{{2, 3, 4}, {3, 4}, {3, 4}}, {.alpha = 1e-5}},
            {{{2, 3, 4}}, {.sizes = {3, 4}, .alpha = 1e-5}},
            {{{9, columns}, {columns}, {columns}}, {.alpha = 1e-5}}};
}
std::vector<Sample> rms_samples(Rng& rng) {
    const int64_t columns = 33 + int64_t(rng.below(40));
    return {{{{2, 3}}, {.alpha = 1e-5}},
            {{{3, 7}, {7}}, {.alpha = 1e-5}},
            {{{2, 3, 5}, {5}}, {.alpha = 1e-2}},
            {{{9, columns}, {columns}}, {.alpha = 1e-5}}};
}

// ---- group_norm: [N,C,...]
Shape group_shape(Types in, const Attributes& a) {
    const Shape& x = in[0].shape;
    if (in.size() != 1 && in.size() != 3)
        throw Failure(fmt::format("takes x alone, or with a weight and a bias, not {} tensors", in.size()));
    if (x.size() < 2 || count_of(x) == 0) throw Failure(fmt::format("shape {} has no channels to normalise", text_of(x)));
    if (a.groups < 1 || x[1] % a.groups)
        throw Failure(fmt::format("{} groups do not divide the {} channels of shape {}", a.groups, x[1], text_of(x)));
    for (size_t i = 1; i < in.size(); ++i)
        if (in[i].shape != Shape{x[1]})
            throw Failure(fmt::format("a weight of shape {} does not fit the {} channels of shape {}", text_of(in[i].shape),
                                      x[1], text_of(x)));
    return x;
}
void append_group_sizes(Arguments& arguments, const Shape& x, const Attributes& a) {
    for (const int64_t value : {x[0], x[1], count_of(x) / (x[0] * x[1]), a.groups})
        arguments.push_back(size_argument(value));
}
void group_forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const Tensor &weight = call.inputs.size() > 1 ? call.inputs[1] : x, &bias = call.inputs.size() > 2 ? call.inputs[2] : x;
    const int64_t parts = x.shape[0] * call.attributes.groups;
    const DType type = sum_type(call.dtype);
    const Tensor mean = call.temporary({parts}, "mean", type), inverse = call.temporary({parts}, "inverse", type);
    Arguments arguments = {x.pointer(),
                           weight.pointer(),
                           bias.pointer(),
                           call.output.pointer(),
                           mean.pointer(),
                           inverse.pointer(),
                           affine_of(call.inputs.size())};
    append_group_sizes(arguments, x.shape, call.attributes);
    arguments.push_back(scalar_argument(call.attributes.alpha, call.dtype));
    call.launch(block_each("group_norm", parts, arguments));
    call.save_input(0);
    call.save("mean", mean);
    call.save("inverse", inverse);
    if (call.inputs.size() > 1) call.save_input(1);
}
void group_backward(BackwardCall& call) {
    const Tensor &x = call.kept(0), &mean = call.kept(1), &inverse = call.kept(2), &dy = call.upstream;
    const size_t inputs = call.inputs.size();
    if (inputs > 1 && (call.wants(1) || call.wants(2))) {
        Arguments arguments = {x.pointer(),
                               mean.pointer(),
                               inverse.pointer(),
                               dy.pointer(),
                               call.allocate(1).pointer(),
                               call.allocate(2).pointer()};
        append_group_sizes(arguments, x.shape, call.attributes);
        call.launch(1, block_each("group_norm_weight_grad", x.shape[1], arguments));
        call.ready[2] = call.ready[1];
    }
    if (call.wants(0)) {
        Arguments arguments = {x.pointer(),      (inputs > 1 ? call.kept(3) : x).pointer(),
                               mean.pointer(),   inverse.pointer(),
                               dy.pointer(),     call.allocate(0).pointer(),
                               affine_of(inputs)};
        append_group_sizes(arguments, x.shape, call.attributes);
        call.launch(0, block_each("group_norm_backward", x.shape[0] * call.attributes.groups, arguments));
    }
}
OpCost group_cost(Types in, const Attributes& a) {
    const Shape& x = in[0].shape;
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype)), s = double(size_of(sum_type(in[0].dtype)));
    const double parts = double(x[0] * a.groups), weight = in.size() > 1 ? double(x[1]) : 0;
    OpCost cost = {{8 * n, e * (2 * n + 2 * weight) + 2 * s * parts}, {9 * n, e * (3 * n + weight) + 2 * s * parts}};
    if (weight > 0) cost.backward += {5 * n, e * (2 * n + 2 * weight) + 2 * s * parts};
    return cost;
}
std::vector<Sample> group_samples(Rng&) {
    return {{{{2, 4, 3}}, {.groups = 2, .alpha = 1e-5}},
            {{{2, 6, 2, 3}, {6}, {6}}, {.groups = 3, .alpha = 1e-5}},
            {{{1, 4, 5, 4}, {4}, {4}}, {.groups = 1, .alpha = 1e-3}},
            {{{3, 3, 7}, {3}, {3}}, {.groups = 3, .alpha = 1e-5}}};
}
}  // namespace

const OpRow layer_norm_row = {
    .name = "layer_norm",
    .numbers = "alpha=1e-5",
    .inputs = 1,
    .variadic = true,
    .gradient_names = {"dx", "dW", "db"},
    .kernels = {"layer_norm", "layer_norm_weight_grad", "layer_norm_backward"},
    .shape = [](Types in, const Attributes& a) { return layer_shape(in, a, 3); },
    .forward = layer_forward,
    .backward = layer_backward,
    .differentiate = differentiate_layer_norm,
    .cost = layer_cost,
    .samples = layer_samples,
};
const OpRow rms_norm_row = {
    .name = "rms_norm",
    .numbers = "alpha=1e-5",
    .inputs = 1,
    .variadic = true,
    .gradient_names = {"dx", "dW"},
    .kernels = {"rms_norm", "rms_norm_weight_grad", "rms_norm_backward"},
    .shape = [](Types in, const Attributes& a) { return layer_shape(in, a, 2); },
    .forward = rms_forward,
    .backward = rms_backward,
    .differentiate = differentiate_rms_norm,
    .cost = rms_cost,
    .samples = rms_samples,
};
const OpRow group_norm_row = {
    .name = "group_norm",
    .numbers = "groups alpha=1e-5",
    .inputs = 1,
    .variadic = true,
    .gradient_names = {"dx", "dW", "db"},
    .kernels = {"group_norm", "group_norm_weight_grad", "group_norm_backward"},
    .shape = group_shape,
    .forward = group_forward,
    .backward = group_backward,
    .differentiate = differentiate_group_norm,
    .cost = group_cost,
    .samples = group_samples,
};

}  // namespace lockstep::tensor
