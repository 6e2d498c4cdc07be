// y[..., C] = x[..., C] + bias[C]. dx is dy itself, without a kernel; dbias sums dy over the rows.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(Types in, const Attributes&) {
    const Shape &x = in[0].shape, &bias = in[1].shape;
    if (x.size() < 2 || bias.size() != 1 || x.back() != bias[0])
        throw Failure(fmt::format("a bias of shape {} does not fit {}: one element a column", text_of(bias), text_of(x)));
    return x;
}

static void forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &bias = call.inputs[1];
    call.launch(elementwise("add_bias", x.count(),
                            {x.pointer(), bias.pointer(), call.output.pointer(), size_argument(x.count() / bias.count()),
                             size_argument(bias.count())}));
}

static void backward(BackwardCall& call) {
    if (call.wants(1)) {
        const int64_t columns = call.inputs[1].count(), rows = call.upstream.count() / columns;
        const Tensor& dbias = call.allocate(1);
        call.launch(1, {"bias_grad",
                        {static_cast<uint32_t>((columns + 31) / 32), 1, 1},
                        {32, 8, 1},
                        {call.upstream.pointer(), dbias.pointer(), size_argument(rows), size_argument(columns)}});
    }
    if (call.wants(0)) call.gradients[0] = call.upstream;
}

static void differentiate(DifferentiateCall& call) {
    if (call.wants(0)) call.gradients[0] = call.upstream;
    if (call.wants(1)) call.gradients[1] = sum_to(call.tape, call.upstream, call.inputs[1].shape, call.label(1));
}

static OpCost cost(Types in, const Attributes&) {
    const double n = double(in[0].count()), columns = double(in[1].count());
    return {{n, 2 * in[0].bytes() + in[1].bytes()}, {n - columns, in[0].bytes() + in[1].bytes()}};
}

static std::vector<Sample> samples(Rng& rng) {
    std::vector<Sample> all = {{{{1, 1}, {1}}}, {{{2, 33}, {33}}}};
    const int64_t rows = 1 + int64_t(rng.below(40)), columns = 1 + int64_t(rng.below(70));
    all.push_back({{{rows, columns}, {columns}}});
    all.push_back({{{2, 3, columns}, {columns}}});
    return all;
}

const OpRow add_bias_row = {
    .name = "add_bias",
    .inputs = 2,
    .gradient_names = {"dx", "db"},
    .kernels = {"add_bias", "bias_grad"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
