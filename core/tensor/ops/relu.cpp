// y = max(x, 0). It keeps y, not x: y > 0 exactly where x > 0, and the next layer mostly keeps y anyway.
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(const std::vector<Shape>& in, const Attributes&, const std::string&) {
    return in[0];
}

static void forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    call.launch(elementwise("relu_f32", x.count(), {x.pointer(), call.output.pointer(), size_argument(x.count())}));
    call.save(call.name, call.output);
}

static void backward(BackwardCall& call) {
    const Tensor& y = call.saved[0].tensor;
    const Tensor& dx = call.allocate(0);
    call.launch(0, elementwise("relu_backward_f32", dx.count(),
                               {y.pointer(), call.upstream.pointer(), dx.pointer(), size_argument(dx.count())}));
}

static OpCost cost(const std::vector<Shape>& in, const Attributes&) {
    const double n = double(count_of(in[0]));
    return {{n, 8 * n}, {n, 12 * n}};
}

static std::vector<Sample> samples(Rng& rng) {
    return {{.shapes = {{1}}, .gap = 0.1}, {.shapes = {{1 + int64_t(rng.below(30)), 37}}, .gap = 0.1}};
}

const OpRow relu_row = {
    .name = "relu",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"relu_f32", "relu_backward_f32"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
