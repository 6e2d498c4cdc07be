// The mean of (prediction - target)² over all elements. The two shapes must be the same: a loss never broadcasts.
// The gradient of the target is the prediction's with the sign turned: the same kernel with its operands exchanged.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/expression.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

static Shape shape(Types in, const Attributes&) {
    if (in[0].shape != in[1].shape)
        throw Failure(fmt::format("a prediction of shape {} and a target of shape {} differ: a loss does not broadcast",
                                  text_of(in[0].shape), text_of(in[1].shape)));
    return {};
}

static void forward(ForwardCall& call) {
    const Tensor &prediction = call.inputs[0], &target = call.inputs[1];
    const Tensor squared = call.temporary(prediction.shape, "squared");
    call.launch(elementwise("mse", prediction.count(),
                            {prediction.pointer(), target.pointer(), squared.pointer(), size_argument(prediction.count())}));
    call.launch(
        {"reduce_mean", {1, 1, 1}, {256, 1, 1}, {squared.pointer(), call.output.pointer(), size_argument(squared.count())}},
        "mean");
    call.save_input(0);
    call.save_input(1);
}

static void backward(BackwardCall& call) {
    const double scale = 1.0 / static_cast<double>(call.kept(0).count());
    for (size_t input = 0; input < 2; ++input) {
        if (!call.wants(input)) continue;
        const Tensor &self = call.kept(input), &other = call.kept(1 - input);
        const Tensor& gradient = call.allocate(input);
        call.launch(input, elementwise("mse_backward", self.count(),
                                       {self.pointer(), other.pointer(), gradient.pointer(), size_argument(self.count()),
                                        scalar_argument(scale, call.dtype)}));
        times_upstream(call, input);
    }
}

static void differentiate(DifferentiateCall& call) {
    const Expression p(call.tape, call.kept(0), call.label(0)), t(call.tape, call.kept(1), call.label(0)),
        d(call.tape, call.upstream, call.label(0));
    const double scale = 2.0 / static_cast<double>(call.inputs[0].count());
    const Expression dp = d * (scale * (p - t));
    if (call.wants(0)) call.gradients[0] = dp.variable();
    if (call.wants(1)) call.gradients[1] = (-dp).variable();
}

static OpCost cost(Types in, const Attributes&) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype));
    return {{3 * n, e * (4 * n + 1)}, {8 * n, e * (10 * n + 2)}};
}

static std::vector<Sample> samples(Rng& rng) {
    const Shape shape = {1 + int64_t(rng.below(20)), 1 + int64_t(rng.below(20))};
    return {{{{1}, {1}}}, {{{2, 3}, {2, 3}}}, {{shape, shape}}};
}

const OpRow mse_row = {
    .name = "mse",
    .inputs = 2,
    .takes_unit_upstream = true,
    .gradient_names = {"dprediction", "dtarget"},
    .kernels = {"mse", "reduce_mean", "mse_backward", "mul_broadcast"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
