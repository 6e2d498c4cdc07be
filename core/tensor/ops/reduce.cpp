// Sum and mean of all elements -> []. Backward fills with the upstream gradient, over n for the mean.
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(Types, const Attributes&) {
    return {};
}

static void reduce(ForwardCall& call, std::string_view kernel) {
    const Tensor& x = call.inputs[0];
    call.launch({kernel, {1, 1, 1}, {256, 1, 1}, {x.pointer(), call.output.pointer(), size_argument(x.count())}});
}

static void spread(BackwardCall& call, double value) {
    const Tensor& dx = call.allocate(0);
    call.launch(
        0, elementwise("fill", dx.count(), {dx.pointer(), scalar_argument(value, dx.dtype), size_argument(dx.count())}));
}

static OpCost sum_cost(Types in, const Attributes&) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype));
    return {{n - 1, e * (n + 1)}, {0, e * n}};
}

static OpCost mean_cost(Types in, const Attributes&) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype));
    return {{n, e * (n + 1)}, {1, e * n}};
}

static std::vector<Sample> samples(Rng& rng) {
    return {{{{1}}}, {{{3, 5}}}, {{{200 + int64_t(rng.below(200))}}}};
}

const OpRow sum_row = {
    .name = "sum",
    .inputs = 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dx"},
    .kernels = {"reduce_sum", "fill"},
    .shape = shape,
    .forward = [](ForwardCall& call) { reduce(call, "reduce_sum"); },
    .backward = [](BackwardCall& call) { spread(call, call.upstream_scalar()); },
    .cost = sum_cost,
    .samples = samples,
};

const OpRow mean_row = {
    .name = "mean",
    .inputs = 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dx"},
    .kernels = {"reduce_mean", "fill"},
    .shape = shape,
    .forward = [](ForwardCall& call) { reduce(call, "reduce_mean"); },
    .backward =
        [](BackwardCall& call) { spread(call, call.upstream_scalar() / static_cast<double>(call.inputs[0].count())); },
    .cost = mean_cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
