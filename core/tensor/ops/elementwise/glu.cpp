// Gated linear units: swiglu(gate, up) = silu(gate) up, glu(gate, up) = sigmoid(gate) up. Shapes must be the same.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
Shape shape(Types in, const Attributes&) {
    if (in[0].shape != in[1].shape)
        throw Failure(
            fmt::format("a gate of shape {} and values of shape {} differ", text_of(in[0].shape), text_of(in[1].shape)));
    return in[0].shape;
}
void forward(ForwardCall& call, std::string_view kernel) {
    const Tensor &gate = call.inputs[0], &up = call.inputs[1];
    call.launch(elementwise(kernel, gate.count(),
                            {gate.pointer(), up.pointer(), call.output.pointer(), size_argument(gate.count())}));
    call.save_input(0);
    call.save_input(1);
}
void backward(BackwardCall& call, std::string_view kernel) {
    const Tensor &dgate = call.allocate(0), &dup = call.allocate(1);
    call.launch(0, elementwise(kernel, dup.count(),
                               {call.kept(0).pointer(), call.kept(1).pointer(), call.upstream.pointer(), dgate.pointer(),
                                dup.pointer(), size_argument(dup.count())}));
    call.ready[1] = call.ready[0];
}
template <int forward_operations, int backward_operations>
OpCost cost(Types in, const Attributes&) {
    const double n = double(in[0].count());
    return {{forward_operations * n, 3 * in[0].bytes()}, {backward_operations * n, 5 * in[0].bytes()}};
}
std::vector<Sample> samples(Rng& rng) {
    const Shape any = {1 + int64_t(rng.below(20)), 17};
    return {{{{1}, {1}}}, {.shapes = {any, any}, .low = -4, .high = 4}};
}
}  // namespace

const OpRow swiglu_row = {
    .name = "swiglu",
    .inputs = 2,
    .gradient_names = {"dgate", "dup"},
    .kernels = {"swiglu", "swiglu_backward"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = shape,
    .forward = [](ForwardCall& call) { forward(call, "swiglu"); },
    .backward = [](BackwardCall& call) { backward(call, "swiglu_backward"); },
    .cost = cost<5, 11>,
    .samples = samples,
};
const OpRow glu_row = {
    .name = "glu",
    .inputs = 2,
    .gradient_names = {"dgate", "dup"},
    .kernels = {"glu", "glu_backward"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = shape,
    .forward = [](ForwardCall& call) { forward(call, "glu"); },
    .backward = [](BackwardCall& call) { backward(call, "glu_backward"); },
    .cost = cost<4, 8>,
    .samples = samples,
};

Variable swiglu(Tape& tape, const Variable& gate, const Variable& up, NodeName name) {
    return tape.apply(swiglu_row, {gate, up}, std::move(name));
}
Variable glu(Tape& tape, const Variable& gate, const Variable& up, NodeName name) {
    return tape.apply(glu_row, {gate, up}, std::move(name));
}

}  // namespace lockstep::tensor
