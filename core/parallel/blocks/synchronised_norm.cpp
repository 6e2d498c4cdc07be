// Batch norm over the pictures of all dp ranks: means and variances are all-reduced forward, and backward the two sums that
// dx needs.
#include "core/parallel/blocks/rank_sharding.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/layer.h"

namespace lockstep::parallel {

using tensor::BackwardCall;
using tensor::elementwise;
using tensor::ForwardCall;
using tensor::scalar_argument;
using tensor::size_argument;
using tensor::Tensor;
using tensor::Variable;

namespace {
constexpr double batch_norm_epsilon = 1e-5, batch_norm_momentum = 0.1;

tensor::Arguments picture_sizes(tensor::Arguments arguments, const tensor::Shape& x) {  // batch, channels, inner, groups
    for (const int64_t value : {x[0], x[1], count_of(x) / (x[0] * x[1]), int64_t{1}})
        arguments.push_back(size_argument(value));
    return arguments;
}

template <class Call>
void mean_over_ranks(Call& call, const Crossing& dp, const Tensor& sums, const auto& launch) {
    all_reduce(*dp.group, call.tape.heap().device(), sums);
    tensor::Launch scale =
        elementwise("scale_add", sums.count(),
                    {sums.pointer(), sums.pointer(), size_argument(sums.count()),
                     scalar_argument(1.0 / dp.group->size(), sums.dtype), scalar_argument(0, sums.dtype)});
    scale.type = sums.dtype;
    launch(scale);
}

// The ranks' parts are equal: mean = mean of means, variance = mean of (variance + (mean here - mean)^2).
void synchronised_forward(ForwardCall& call) {
    const Crossing& dp = *static_cast<const Crossing*>(call.attributes.context);
    dp.rank->forward_took(call.tape);
    const Tensor &x = call.inputs[0], &weight = call.inputs[1], &bias = call.inputs[2];
    const int64_t channels = x.shape[1], here = x.count() / channels;
    const DType sums = tensor::sum_type(call.dtype);
    const auto launch = [&](const tensor::Launch& one) { call.launch(one, "statistics"); };
    const auto each = [&](std::string_view kernel, const Tensor& a, const Tensor& b, const Tensor& y) {
        tensor::Launch one = elementwise(kernel, channels, {a.pointer(), b.pointer(), y.pointer(), size_argument(channels)});
        one.type = sums;
        launch(one);
    };
    const Tensor mean = call.temporary({channels}, "mean", sums), variance = call.temporary({channels}, "variance", sums),
                 apart = call.temporary({channels}, "apart", sums);
    launch(tensor::block_each("batch_norm_statistics", channels,
                              picture_sizes({x.pointer(), mean.pointer(), variance.pointer()}, x.shape)));
    tensor::Launch copy = elementwise(
        "scale_add", channels,
        {mean.pointer(), apart.pointer(), size_argument(channels), scalar_argument(1, sums), scalar_argument(0, sums)});
    copy.type = sums;
    launch(copy);
    mean_over_ranks(call, dp, mean, launch);
    each("sub", apart, mean, apart);
    each("mul", apart, apart, apart);
    each("add", variance, apart, variance);
    mean_over_ranks(call, dp, variance, launch);
    call.launch(elementwise("batch_norm_running", channels,
                            {mean.pointer(), variance.pointer(), call.inputs[3].pointer(), call.inputs[4].pointer(),
                             size_argument(channels), size_argument(1), size_argument(here * dp.group->size()),
                             scalar_argument(batch_norm_momentum, call.dtype)}),
                "running");
    tensor::Arguments arguments = picture_sizes({x.pointer(), mean.pointer(), variance.pointer(), weight.pointer(),
                                                 bias.pointer(), call.output.pointer(), int32_t{2}},
                                                x.shape);
    arguments.push_back(scalar_argument(batch_norm_epsilon, call.dtype));
    call.launch(elementwise("batch_norm", x.count(), arguments));
    call.save_input(0);
    call.save("mean", mean);
    call.save("variance", variance);
    call.save_input(1);
}

void synchronised_backward(BackwardCall& call) {
    const Crossing& dp = *static_cast<const Crossing*>(call.attributes.context);
    const Tensor &x = call.kept(0), &mean = call.kept(1), &variance = call.kept(2), &weight = call.kept(3);
    const Tensor& dy = call.upstream;
    const int64_t channels = x.shape[1];
    const DType sums = tensor::sum_type(call.dtype);
    const auto launch = [&](const tensor::Launch& one) { call.launch(0, one); };
    const Tensor both = call.temporary({2, channels}, "sums", sums);
    const Tensor dy_sum = sliced(both, 0, 0, 1), along = sliced(both, 0, 1, 2);
    tensor::Arguments arguments = picture_sizes(
        {x.pointer(), dy.pointer(), mean.pointer(), variance.pointer(), dy_sum.pointer(), along.pointer()}, x.shape);
    arguments.push_back(scalar_argument(batch_norm_epsilon, call.dtype));
    launch(tensor::block_each("batch_norm_sums", channels, arguments));
    if (call.wants(1) || call.wants(2)) {
        const Tensor &dweight = call.allocate(1), &dbias = call.allocate(2);
        call.launch(1, elementwise("batch_norm_weight_grad", channels,
                                   {dy_sum.pointer(), along.pointer(), dweight.pointer(), dbias.pointer(),
                                    size_argument(channels), size_argument(1)}));
        call.ready[2] = call.ready[1];
    }
    if (!call.wants(0)) return;
    mean_over_ranks(call, dp, both, launch);
    const Tensor& dx = call.allocate(0);
    arguments = picture_sizes({x.pointer(), dy.pointer(), mean.pointer(), variance.pointer(), weight.pointer(),
                               dy_sum.pointer(), along.pointer(), dx.pointer(), int32_t{2}, int32_t{1}},
                              x.shape);
    arguments.push_back(scalar_argument(batch_norm_epsilon, call.dtype));
    launch(elementwise("batch_norm_backward", dx.count(), arguments));
}

const tensor::OpRow synchronised_row = {
    .name = "batch_norm_synchronised",
    .inputs = 5,
    .constant_inputs = 1u << 3 | 1u << 4,
    .gradient_names = {"dx", "dW", "db"},
    .kernels = {"batch_norm_statistics", "scale_add", "sub", "mul", "add", "batch_norm_running", "batch_norm",
                "batch_norm_sums", "batch_norm_weight_grad", "batch_norm_backward"},
    .shape = [](tensor::Types in, const tensor::Attributes&) { return in[0].shape; },
    .forward = synchronised_forward,
    .backward = synchronised_backward,
    .cost =
        [](tensor::Types in, const tensor::Attributes&) {
            const double n = double(in[0].count()), bytes = in[0].bytes();  // as batch_norm's, the pictures alone
            return tensor::OpCost{{8 * n, 3 * bytes}, {13 * n, 5 * bytes}};
        },
};
}  // namespace

Variable synchronised_batch_norm(nn::Pass& pass, const nn::BatchNorm2d& layer, const Variable& x, const Crossing& dp) {
    const Variable inputs[] = {x, pass.leaf(layer.weight), pass.leaf(layer.bias), pass(layer.running_mean),
                               pass(layer.running_variance)};
    return pass.tape.apply(synchronised_row, inputs, layer.name + " batch_norm", {.context = &dp});
}

}  // namespace lockstep::parallel
