// The pointwise half of recurrent cells: gi = x Wiᵀ + bi and gh = h Whᵀ + bh come from matmul and add_bias, [B, gates H]
// each. rnn_cell (mode 0 tanh, 1 relu) -> h' [B,H];  gru_cell(gi, gh, h), gates reset, update, new -> h' [B,H];
// lstm_cell(gi, gh, c), gates input, forget, cell, output -> [2,B,H]: h' and c', which views take apart.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
const std::vector<DType> floats = {DType::f32, DType::f64, DType::f16, DType::bf16};

void check_gates(Types in, int64_t gates) {
    const Shape &gi = in[0].shape, &gh = in[1].shape;
    if (gi != gh) throw Failure(fmt::format("gates of shape {} and {} differ", text_of(gi), text_of(gh)));
    if (in.size() < 3) return;
    const Shape& state = in[2].shape;
    if (gi.size() != 2 || state.size() != 2 || gi[0] != state[0] || gi[1] != gates * state[1])
        throw Failure(fmt::format("gates of shape {} do not fit a state of shape {}: {} gates a hidden unit", text_of(gi),
                                  text_of(state), gates));
}

Shape rnn_shape(Types in, const Attributes&) {
    check_gates(in, 1);
    return in[0].shape;
}
void rnn_forward(ForwardCall& call) {
    const Tensor& h = call.output;
    call.launch(elementwise("rnn_cell", h.count(),
                            {call.inputs[0].pointer(), call.inputs[1].pointer(), h.pointer(), int32_t{call.attributes.mode},
                             size_argument(h.count())}));
    call.save_output();
}
void rnn_backward(BackwardCall& call) {
    const Tensor &dgi = call.allocate(0), &dgh = call.allocate(1), &h = call.kept(0);
    call.launch(0, elementwise("rnn_cell_backward", h.count(),
                               {h.pointer(), call.upstream.pointer(), dgi.pointer(), dgh.pointer(),
                                int32_t{call.attributes.mode}, size_argument(h.count())}));
    call.ready[1] = call.ready[0];
}

// gru_cell and lstm_cell, which differ in the number of gates and in what backward reads.
void gated_forward(ForwardCall& call, std::string_view kernel) {
    const Tensor &gi = call.inputs[0], &gh = call.inputs[1], &state = call.inputs[2];
    const Tensor gates = call.temporary(gi.shape, "gates");
    call.launch(elementwise(kernel, state.count(),
                            {gi.pointer(), gh.pointer(), state.pointer(), call.output.pointer(), gates.pointer(),
                             size_argument(state.shape[0]), size_argument(state.shape[1])}));
    call.save("gates", gates);
    if (kernel == "gru_cell") call.save_input(1);
    call.save_input(2);
    if (kernel == "lstm_cell") call.save_output();
}
void gated_backward(BackwardCall& call, std::string_view kernel) {
    const Tensor &dgi = call.allocate(0), &dgh = call.allocate(1), &dstate = call.allocate(2);
    call.launch(0, elementwise(kernel, dstate.count(),
                               {call.kept(0).pointer(), call.kept(1).pointer(), call.kept(2).pointer(),
                                call.upstream.pointer(), dgi.pointer(), dgh.pointer(), dstate.pointer(),
                                size_argument(dstate.shape[0]), size_argument(dstate.shape[1])}));
    call.ready[1] = call.ready[2] = call.ready[0];
}

std::vector<Sample> samples_of(Rng& rng, int64_t gates) {
    std::vector<Sample> all;
    for (const Shape& state : {Shape{1, 1}, Shape{3, 5}, Shape{2 + int64_t(rng.below(5)), 16}}) {
        const Shape gate = {state[0], gates * state[1]};
        all.push_back({.shapes = {gate, gate, state}});
    }
    return all;
}
}  // namespace

const OpRow rnn_cell_row = {
    .name = "rnn_cell",
    .inputs = 2,
    .gradient_names = {"dgi", "dgh"},
    .kernels = {"rnn_cell", "rnn_cell_backward"},
    .types = floats,
    .shape = rnn_shape,
    .forward = rnn_forward,
    .backward = rnn_backward,
    .cost = [](Types in, const Attributes&) -> OpCost {
        const double n = double(in[0].count());
        return {{2 * n, 3 * in[0].bytes()}, {3 * n, 4 * in[0].bytes()}};
    },
    .samples = [](Rng&) -> std::vector<Sample> {
        return {{{{1, 1}, {1, 1}}},
                {{{3, 5}, {3, 5}}},
                {.shapes = {{3, 7}, {3, 7}}, .attributes = {.mode = 1}, .low = 0.1},
                {.shapes = {{3, 7}, {3, 7}}, .attributes = {.mode = 1}, .high = -0.1}};
    },
};

const OpRow gru_cell_row = {
    .name = "gru_cell",
    .inputs = 3,
    .gradient_names = {"dgi", "dgh", "dh"},
    .kernels = {"gru_cell", "gru_cell_backward"},
    .types = floats,
    .shape =
        [](Types in, const Attributes&) {
            check_gates(in, 3);
            return in[2].shape;
        },
    .forward = [](ForwardCall& call) { gated_forward(call, "gru_cell"); },
    .backward = [](BackwardCall& call) { gated_backward(call, "gru_cell_backward"); },
    .cost = [](Types in, const Attributes&) -> OpCost {
        const double n = double(in[2].count()), gate = in[0].bytes(), state = in[2].bytes();
        return {{12 * n, 3 * gate + 2 * state}, {18 * n, 4 * gate + 3 * state}};
    },
    .samples = [](Rng& rng) { return samples_of(rng, 3); },
};

const OpRow lstm_cell_row = {
    .name = "lstm_cell",
    .inputs = 3,
    .gradient_names = {"dgi", "dgh", "dc"},
    .kernels = {"lstm_cell", "lstm_cell_backward"},
    .types = floats,
    .shape = [](Types in, const Attributes&) -> Shape {
        check_gates(in, 4);
        return {2, in[2].shape[0], in[2].shape[1]};
    },
    .forward = [](ForwardCall& call) { gated_forward(call, "lstm_cell"); },
    .backward = [](BackwardCall& call) { gated_backward(call, "lstm_cell_backward"); },
    .cost = [](Types in, const Attributes&) -> OpCost {
        const double n = double(in[2].count()), gate = in[0].bytes(), state = in[2].bytes();
        return {{18 * n, 3 * gate + 3 * state}, {26 * n, 3 * gate + 6 * state}};
    },
    .samples = [](Rng& rng) { return samples_of(rng, 4); },
};

Variable rnn_cell(Tape& tape, const Variable& gi, const Variable& gh, NodeName name, bool use_relu) {
    return tape.apply(rnn_cell_row, {gi, gh}, std::move(name), {.mode = use_relu});
}
Variable gru_cell(Tape& tape, const Variable& gi, const Variable& gh, const Variable& h, NodeName name) {
    return tape.apply(gru_cell_row, {gi, gh, h}, std::move(name));
}
Variable lstm_cell(Tape& tape, const Variable& gi, const Variable& gh, const Variable& c, NodeName name) {
    return tape.apply(lstm_cell_row, {gi, gh, c}, std::move(name));
}

}  // namespace lockstep::tensor
