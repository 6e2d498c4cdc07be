// The mean of (prediction - target)² over all elements. The two shapes must be the same: a loss never broadcasts.
// The gradient of the target is the prediction's with the sign turned: the same kernel with its operands exchanged.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(const std::vector<Shape>& in, const Attributes&, const std::string& name) {
    if (in[0] != in[1])
        throw Failure(fmt::format("{}: a prediction of shape {} and a target of shape {} differ: a loss does not broadcast",
                                  name, text_of(in[0]), text_of(in[1])));
    return {};
}

static void forward(ForwardCall& call) {
    const Tensor &prediction = call.inputs[0], &target = call.inputs[1];
    const Tensor squared = call.temporary(prediction.shape, "squared");
    call.launch(elementwise("mse_f32", prediction.count(),
                            {prediction.pointer(), target.pointer(), squared.pointer(), size_argument(prediction.count())}));
    call.launch({"reduce_mean_f32",
                 {1, 1, 1},
                 {256, 1, 1},
                 {squared.pointer(), call.output.pointer(), size_argument(squared.count())}},
                call.name + " mean");
    call.save_input(0);
    call.save_input(1);
}

static void backward(BackwardCall& call) {
    const float scale = call.upstream_scalar() / static_cast<float>(call.saved[0].tensor.count());
    for (size_t input = 0; input < 2; ++input) {
        if (!call.wanted[input]) continue;
        const Tensor &self = call.saved[input].tensor, &other = call.saved[1 - input].tensor;
        const Tensor& gradient = call.allocate(input);
        call.launch(input,
                    elementwise("mse_backward_f32", self.count(),
                                {self.pointer(), other.pointer(), gradient.pointer(), size_argument(self.count()), scale}));
    }
}

static OpCost cost(const std::vector<Shape>& in, const Attributes&) {
    const double n = double(count_of(in[0]));
    return {{3 * n, 16 * n + 4}, {6 * n, 24 * n}};
}

static std::vector<Sample> samples(Rng& rng) {
    const Shape shape = {1 + int64_t(rng.below(20)), 1 + int64_t(rng.below(20))};
    return {{{{1}, {1}}}, {{{2, 3}, {2, 3}}}, {{shape, shape}}};
}

const OpRow mse_row = {
    .name = "mse",
    .inputs = 2,
    .gradient_names = {"dprediction", "dtarget"},
    .kernels = {"mse_f32", "reduce_mean_f32", "mse_backward_f32"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
