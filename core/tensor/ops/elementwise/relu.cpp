// y = max(x, 0). It keeps y, not x: y > 0 exactly where x > 0, and the next layer mostly keeps y anyway.
#include <cmath>

#include "core/tensor/ops/expression.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(Types in, const Attributes&) {
    return in[0].shape;
}

static void forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    call.launch(elementwise("relu", x.count(), {x.pointer(), call.output.pointer(), size_argument(x.count())}));
    call.save_output();
}

static void backward(BackwardCall& call) {
    const Tensor& y = call.kept(0);
    const Tensor& dx = call.allocate(0);
    call.launch(0, elementwise("relu_backward", dx.count(),
                               {y.pointer(), call.upstream.pointer(), dx.pointer(), size_argument(dx.count())}));
}

static void differentiate(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    const Expression y(call.tape, call.kept(0), call.label(0)), d(call.tape, call.upstream, call.label(0));
    call.gradients[0] = (d * (1 - inside(y, -INFINITY, 0))).variable();
}

static OpCost cost(Types in, const Attributes&) {
    const double n = double(in[0].count());
    return {{n, 2 * in[0].bytes()}, {n, 3 * in[0].bytes()}};
}

static std::vector<Sample> samples(Rng& rng) {
    return {{.shapes = {{1}}, .gap = 0.1}, {.shapes = {{1 + int64_t(rng.below(30)), 37}}, .gap = 0.1}};
}

const OpRow relu_row = {
    .name = "relu",
    .elementwise = true,
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"relu", "relu_backward"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
