// Sum and mean of all elements -> []. Backward fills with the upstream gradient, over n for the mean.
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(const std::vector<Shape>&, const Attributes&, const std::string&) {
    return {};
}

static void reduce(ForwardCall& call, std::string_view kernel) {
    const Tensor& x = call.inputs[0];
    call.launch({kernel, {1, 1, 1}, {256, 1, 1}, {x.pointer(), call.output.pointer(), size_argument(x.count())}});
}

static void spread(BackwardCall& call, float value) {
    const Tensor& dx = call.allocate(0);
    call.launch(0, elementwise("fill_f32", dx.count(), {dx.pointer(), value, size_argument(dx.count())}));
}

static OpCost sum_cost(const std::vector<Shape>& in, const Attributes&) {
    const double n = double(count_of(in[0]));
    return {{n - 1, 4 * n + 4}, {0, 4 * n}};
}

static OpCost mean_cost(const std::vector<Shape>& in, const Attributes&) {
    const double n = double(count_of(in[0]));
    return {{n, 4 * n + 4}, {1, 4 * n}};
}

static std::vector<Sample> samples(Rng& rng) {
    return {{{{1}}}, {{{3, 5}}}, {{{200 + int64_t(rng.below(200))}}}};
}

const OpRow sum_row = {
    .name = "sum",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"reduce_sum_f32", "fill_f32"},
    .shape = shape,
    .forward = [](ForwardCall& call) { reduce(call, "reduce_sum_f32"); },
    .backward = [](BackwardCall& call) { spread(call, call.upstream_scalar()); },
    .cost = sum_cost,
    .samples = samples,
};

const OpRow mean_row = {
    .name = "mean",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"reduce_mean_f32", "fill_f32"},
    .shape = shape,
    .forward = [](ForwardCall& call) { reduce(call, "reduce_mean_f32"); },
    .backward =
        [](BackwardCall& call) { spread(call, call.upstream_scalar() / static_cast<float>(count_of(call.shapes[0]))); },
    .cost = mean_cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
