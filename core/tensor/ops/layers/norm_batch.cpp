// Batch normalisation of x[N,C,...] (kernels/norm_batch.cu): every channel with mean 0 and variance 1 over the batch and its
// positions. Inputs: x, [weight[C], bias[C],] running_mean[C], running_variance[C].
// attributes.training: with the statistics of the batch; the running ones, which are written in place, take a step of
// `beta` (momentum) towards them (towards the unbiased variance). Else: with the running ones as they are.
// groups: ghost batches. The batch is cut into so many parts, each normalised by itself; the running statistics take a step
// for each part, in order. alpha is epsilon.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/layer.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/second.h"

namespace lockstep::tensor {

namespace {
struct Sizes {
    int64_t batch, channels, inner, groups;
    int64_t all() const { return batch * channels * inner; }
    int64_t parts() const { return groups * channels; }
};
Sizes sizes_of(const Shape& x, const Attributes& a) {
    return {x[0], x[1], count_of(x) / (x[0] * x[1]), a.training ? a.groups : 1};
}
void append(Arguments& arguments, const Sizes& s) {
    for (const int64_t value : {s.batch, s.channels, s.inner, s.groups}) arguments.push_back(size_argument(value));
}

Shape shape(Types in, const Attributes& a) {
    const Shape& x = in[0].shape;
    if (in.size() != 3 && in.size() != 5)
        throw Failure(
            fmt::format("takes x, a weight and a bias or neither, and two running statistics, not {} tensors", in.size()));
    if (x.size() < 2 || count_of(x) == 0) throw Failure(fmt::format("shape {} has no channels to normalise", text_of(x)));
    for (size_t i = 1; i < in.size(); ++i)
        if (in[i].shape != Shape{x[1]})
            throw Failure(fmt::format("a tensor of shape {} does not fit the {} channels of shape {}", text_of(in[i].shape),
                                      x[1], text_of(x)));
    if (a.groups < 1 || x[0] % a.groups)
        throw Failure(fmt::format("{} ghost batches do not divide a batch of {}", a.groups, x[0]));
    if (a.training && count_of(x) / (x[1] * a.groups) < 2)
        throw Failure(fmt::format("training needs more than one value a channel, and shape {} in {} ghost batches has one",
                                  text_of(x), a.groups));
    return x;
}

void forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const size_t inputs = call.inputs.size();
    const Tensor &running_mean = call.inputs[inputs - 2], &running_variance = call.inputs[inputs - 1];
    const Tensor &weight = inputs > 3 ? call.inputs[1] : x, &bias = inputs > 3 ? call.inputs[2] : x;
    const Sizes s = sizes_of(x.shape, call.attributes);
    const DType type = sum_type(call.dtype);
    const Tensor mean = call.temporary({s.groups, s.channels}, "mean", type),
                 variance = call.temporary({s.groups, s.channels}, "variance", type);
    if (call.attributes.training) {
        Arguments statistics = {x.pointer(), mean.pointer(), variance.pointer()};
        append(statistics, s);
        call.launch(block_each("batch_norm_statistics", s.parts(), statistics), "statistics");
        call.launch(
            elementwise("batch_norm_running", s.channels,
                        {mean.pointer(), variance.pointer(), running_mean.pointer(), running_variance.pointer(),
                         size_argument(s.channels), size_argument(s.groups), size_argument(s.batch / s.groups * s.inner),
                         scalar_argument(call.attributes.beta, call.dtype)}),
            "running");
    } else {
        call.launch(elementwise("batch_norm_given", s.channels,
                                {running_mean.pointer(), running_variance.pointer(), mean.pointer(), variance.pointer(),
                                 size_argument(s.channels)}),
                    "statistics");
    }
    Arguments arguments = {x.pointer(),    mean.pointer(),        variance.pointer(),         weight.pointer(),
                           bias.pointer(), call.output.pointer(), int32_t{inputs > 3 ? 2 : 0}};
    append(arguments, s);
    arguments.push_back(scalar_argument(call.attributes.alpha, call.dtype));
    call.launch(elementwise("batch_norm", s.all(), arguments));
    call.save_input(0);
    call.save("mean", mean);
    call.save("variance", variance);
    if (inputs > 3) call.save_input(1);
}

void backward(BackwardCall& call) {
    const Tensor &x = call.kept(0), &mean = call.kept(1), &variance = call.kept(2), &dy = call.upstream;
    const size_t inputs = call.inputs.size();
    const bool training = call.attributes.training, affine = inputs > 3;
    const Tensor& weight = affine ? call.kept(3) : x;
    const Sizes s = sizes_of(x.shape, call.attributes);
    const device::Argument epsilon = scalar_argument(call.attributes.alpha, call.dtype);
    const DType type = sum_type(call.dtype);
    const Tensor dy_sum = call.temporary({s.groups, s.channels}, "dy sum", type),
                 along = call.temporary({s.groups, s.channels}, "along", type);
    Arguments sums = {x.pointer(), dy.pointer(), mean.pointer(), variance.pointer(), dy_sum.pointer(), along.pointer()};
    append(sums, s);
    sums.push_back(epsilon);
    call.launch(0, block_each("batch_norm_sums", s.parts(), sums));
    if (affine && (call.wants(1) || call.wants(2))) {
        const Tensor &dweight = call.allocate(1), &dbias = call.allocate(2);
        call.launch(1, elementwise("batch_norm_weight_grad", s.channels,
                                   {dy_sum.pointer(), along.pointer(), dweight.pointer(), dbias.pointer(),
                                    size_argument(s.channels), size_argument(s.groups)}));
        call.ready[2] = call.ready[1];
    }
    if (call.wants(0)) {
        const Tensor& dx = call.allocate(0);
        Arguments arguments = {
            x.pointer(),      dy.pointer(),    mean.pointer(), variance.pointer(),      weight.pointer(),
            dy_sum.pointer(), along.pointer(), dx.pointer(),   int32_t{affine ? 2 : 0}, int32_t{training}};
        append(arguments, s);
        arguments.push_back(epsilon);
        call.launch(0, elementwise("batch_norm_backward", s.all(), arguments));
    }
    if (!call.wants(inputs - 2) && !call.wants(inputs - 1)) return;
    // The running statistics: nothing depends on them in training.
    const Tensor &dmean = call.allocate(inputs - 2), &dvariance = call.allocate(inputs - 1);
    if (training) {
        for (const size_t input : {inputs - 2, inputs - 1})
            call.launch(input, elementwise("fill", s.channels,
                                           {call.gradients[input].pointer(), scalar_argument(0, call.dtype),
                                            size_argument(s.channels)}));
        return;
    }
    call.launch(inputs - 2,
                elementwise("batch_norm_given_grad", s.channels,
                            {variance.pointer(), weight.pointer(), dy_sum.pointer(), along.pointer(), dmean.pointer(),
                             dvariance.pointer(), int32_t{affine ? 2 : 0}, size_argument(s.channels), epsilon}));
    call.ready[inputs - 1] = call.ready[inputs - 2];
}

// Operations a value: mean 1, variance 3, normalise 4; backward: sums 5, dx 8.
OpCost cost(Types in, const Attributes& a) {
    const Sizes s = sizes_of(in[0].shape, a);
    const double n = double(s.all()), c = double(s.channels), parts = double(s.parts());
    const double e = double(size_of(in[0].dtype)), t = double(size_of(sum_type(in[0].dtype)));
    const double weight = in.size() > 3 ? c : 0;
    const double statistics = a.training ? e * n + t * 2 * parts + t * 2 * parts + e * 2 * c : e * 2 * c + t * 2 * c;
    // Without a weight, the gradient of the given statistics is handed x in its place, which it does not read.
    const double given = a.training ? e * 2 * c : t * 3 * c + e * ((weight > 0 ? c : n) + 2 * c);
    return {{(a.training ? 8 : 4) * n, statistics + e * (2 * n + 2 * weight) + t * 2 * parts},
            {13 * n, e * 2 * n + t * 4 * parts + (weight > 0 ? t * 2 * parts + e * 2 * c : 0) + e * (3 * n + weight) +
                         t * 4 * parts + given}};
}

std::vector<Sample> samples(Rng&) {
    const std::array<double, 2> any = {-1, 1}, positive = {0.5, 2};
    const auto affine = [&](const Shape& x, Attributes a) {
        a.alpha = 1e-5, a.beta = 0.1;
        const Shape c = {x[1]};
        return Sample{{x, c, c, c, c}, a, 0, -1, 1, {any, any, any, any, positive}};
    };
    return {affine({8, 3}, {}),
            affine({4, 3, 2, 5}, {}),
            affine({6, 2, 3}, {.groups = 3}),
            affine({3, 4, 5}, {.training = false}),
            {{{5, 4}, {4}, {4}}, {.alpha = 1e-3, .beta = 0.3}, 0, -1, 1, {any, any, positive}},
            {{{2, 3, 2, 2}, {3}, {3}}, {.training = false, .alpha = 1e-3}, 0, -1, 1, {any, any, positive}}};
}
}  // namespace

const OpRow batch_norm_row = {
    .name = "batch_norm",
    .numbers = not_from_text,
    .inputs = 3,
    .variadic = true,
    .written_inputs = 2,
    .gradient_names = {"dx", "dW", "db", "dstatistics"},
    .kernels = {"batch_norm_statistics", "batch_norm_running", "batch_norm_given", "batch_norm", "batch_norm_sums",
                "batch_norm_weight_grad", "batch_norm_backward", "fill", "batch_norm_given_grad"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate_batch_norm,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
