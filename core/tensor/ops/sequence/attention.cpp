// softmax(scale q kᵀ) v without the matrix of scores (kernels/attention.cu). q [B,H,T,D], k and v [B,G,S,D], H a multiple of
// G: query head h reads head h G / H. mode 1: [B,T,H,D] and [B,S,G,D], as a linear layer leaves them. causal: query i sees
// keys up to i + S - T. alpha: the scale, 0 for 1 / sqrt(D). Kept for backward: inputs, output, a log-sum-exp a row.
#include <fmt/format.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/second.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
struct Sizes {
    int64_t batch, heads, kv_heads, t, s, d;
};
Sizes sizes_of(const Shape& q, const Shape& k, const Attributes& attributes) {
    const size_t head = attributes.mode == 1 ? 2 : 1, position = 3 - head;
    return {q[0], q[head], k[head], q[position], k[position], q[3]};
}
DType sum_type(DType type) {  // what the kernels compute in
    return type == DType::f64 ? DType::f64 : DType::f32;
}

Shape shape(Types in, const Attributes& attributes) {
    const Shape &q = in[0].shape, &k = in[1].shape, &v = in[2].shape;
    const auto fail = [&](std::string_view why) {
        throw Failure(fmt::format("q {}, k {} and v {} do not fit: {}", text_of(q), text_of(k), text_of(v), why));
    };
    if (q.size() != 4 || k.size() != 4) fail("each has four axes");
    if (k != v) fail("k and v have one shape");
    const Sizes n = sizes_of(q, k, attributes);
    if (k[0] != n.batch || k[3] != n.d) fail("batch and head size must be equal");
    if (n.heads % n.kv_heads) fail("the heads of q must be a multiple of those of k");
    if (attributes.causal && n.s < n.t) fail("a causal query sees at least itself: no fewer keys than queries");
    const int64_t widest = in[0].dtype == DType::f64 ? 64 : 128;
    if (n.d > widest) fail(fmt::format("heads of {} hold at most {} elements", name_of(in[0].dtype), widest));
    return q;
}

void append(Arguments& arguments, const Sizes& n, const Attributes& attributes, DType type) {
    for (int64_t size : {n.batch, n.heads, n.kv_heads, n.t, n.s, n.d}) arguments.push_back(size_argument(size));
    arguments.push_back(int32_t{attributes.mode});
    arguments.push_back(int32_t{attributes.causal});
    const double scale = attributes.alpha != 0 ? attributes.alpha : 1 / std::sqrt(double(n.d));
    arguments.push_back(scalar_argument(scale, type));
}
uint32_t tiles(int64_t length) {
    return static_cast<uint32_t>((length + 15) / 16);
}

void forward(ForwardCall& call) {
    const Tensor &q = call.inputs[0], &k = call.inputs[1], &v = call.inputs[2];
    const Sizes n = sizes_of(q.shape, k.shape, call.attributes);
    const Tensor lse = call.temporary({n.batch, n.heads, n.t}, "log-sum-exp", sum_type(call.dtype));
    Launch launch = {"attention",
                     {tiles(n.t), static_cast<uint32_t>(n.heads), static_cast<uint32_t>(n.batch)},
                     {16, 16, 1},
                     {q.pointer(), k.pointer(), v.pointer(), call.output.pointer(), lse.pointer()}};
    append(launch.arguments, n, call.attributes, call.dtype);
    call.launch(launch);
    for (size_t input = 0; input < 3; ++input) call.save_input(input);
    call.save_output();
    call.save("log-sum-exp", lse);
}

void backward(BackwardCall& call) {
    const Sizes n = sizes_of(call.inputs[0].shape, call.inputs[1].shape, call.attributes);
    const Tensor &out = call.kept(3), &lse = call.kept(4);
    const Tensor delta = call.temporary(lse.shape, "delta", lse.dtype);
    const int64_t rows = n.batch * n.heads * n.t;
    call.launch(0, {"attention_delta",
                    {static_cast<uint32_t>((rows + 3) / 4), 1, 1},
                    {128, 1, 1},
                    {out.pointer(), call.upstream.pointer(), delta.pointer(), size_argument(n.batch), size_argument(n.heads),
                     size_argument(n.t), size_argument(n.d), int32_t{call.attributes.mode}}});
    const Tensor &dq = call.allocate(0), &dk = call.allocate(1), &dv = call.allocate(2);
    Launch launch = {"attention_backward",
                     {tiles(n.t) + tiles(n.s), static_cast<uint32_t>(n.heads), static_cast<uint32_t>(n.batch)},
                     {16, 16, 1},
                     {call.kept(0).pointer(), call.kept(1).pointer(), call.kept(2).pointer(), call.upstream.pointer(),
                      lse.pointer(), delta.pointer(), dq.pointer(), dk.pointer(), dv.pointer()}};
    append(launch.arguments, n, call.attributes, call.dtype);
    call.launch(0, launch);
    call.ready[1] = call.ready[2] = call.ready[0];
}

// A visible pair of query and key: two products of D and five operations of the softmax forward; five products backward.
OpCost cost(Types in, const Attributes& attributes) {
    const Sizes n = sizes_of(in[0].shape, in[1].shape, attributes);
    const double rows = double(n.batch * n.heads * n.t), d = double(n.d);
    const double hidden = attributes.causal ? double(n.t - 1) / 2 : 0;  // keys a query does not see, on average
    const double pairs = rows * (double(n.s) - hidden), sums = rows * double(size_of(sum_type(in[0].dtype)));
    const double q = in[0].bytes(), kv = in[1].bytes();
    return {{pairs * (4 * d + 5), 2 * q + 2 * kv + sums}, {pairs * (10 * d + 8) + 2 * rows * d, 5 * q + 4 * kv + 3 * sums}};
}

std::vector<Sample> samples(Rng& rng) {
    const int64_t t = 17 + int64_t(rng.below(10));
    return {{{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}},
            {{{2, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}}, {.causal = true}},
            {{{1, 4, 3, 8}, {1, 2, 9, 8}, {1, 2, 9, 8}}, {.causal = true, .alpha = 0.7}},
            {{{2, t, 4, 5}, {2, t, 2, 5}, {2, t, 2, 5}}, {.causal = true, .mode = 1}},
            {{{1, 19, 3, 20}, {1, 35, 3, 20}, {1, 35, 3, 20}}, {.mode = 1}}};
}
}  // namespace

const OpRow attention_row = {
    .name = "attention",
    .inputs = 3,
    .gradient_names = {"dq", "dk", "dv"},
    .kernels = {"attention", "attention_delta", "attention_backward"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate_attention,
    .cost = cost,
    .samples = samples,
};

Variable attention(Tape& tape, const Variable& q, const Variable& k, const Variable& v, bool causal, HeadLayout layout,
                   NodeName name, double scale) {
    return tape.apply(attention_row, {q, k, v}, std::move(name), {.causal = causal, .alpha = scale, .mode = int(layout)});
}

}  // namespace lockstep::tensor
