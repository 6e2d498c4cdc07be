// y[R,C] = x[R,C] + bias[C]. dx is dy itself, without a kernel; dbias sums dy over the rows.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(const std::vector<Shape>& in, const Attributes&, const std::string& name) {
    if (in[0].size() != 2 || in[1].size() != 1 || in[0][1] != in[1][0])
        throw Failure(fmt::format("{}: a bias of shape {} does not fit {}: one element a column", name, text_of(in[1]),
                                  text_of(in[0])));
    return in[0];
}

static void forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &bias = call.inputs[1];
    call.launch(elementwise(
        "add_bias_f32", x.count(),
        {x.pointer(), bias.pointer(), call.output.pointer(), size_argument(x.shape[0]), size_argument(x.shape[1])}));
}

static void backward(BackwardCall& call) {
    if (call.wanted[1]) {
        const int64_t rows = call.upstream.shape[0], columns = call.upstream.shape[1];
        const Tensor& dbias = call.allocate(1);
        call.launch(1, {"bias_grad_f32",
                        {static_cast<uint32_t>((columns + 31) / 32), 1, 1},
                        {32, 8, 1},
                        {call.upstream.pointer(), dbias.pointer(), size_argument(rows), size_argument(columns)}});
    }
    if (call.wanted[0]) call.gradients[0] = call.upstream;
}

static OpCost cost(const std::vector<Shape>& in, const Attributes&) {
    const double n = double(count_of(in[0])), columns = double(in[1][0]);
    return {{n, 8 * n + 4 * columns}, {n - columns, 4 * n + 4 * columns}};
}

static std::vector<Sample> samples(Rng& rng) {
    std::vector<Sample> all = {{{{1, 1}, {1}}}, {{{2, 33}, {33}}}};
    const int64_t rows = 1 + int64_t(rng.below(40)), columns = 1 + int64_t(rng.below(70));
    all.push_back({{{rows, columns}, {columns}}});
    return all;
}

const OpRow add_bias_row = {
    .name = "add_bias",
    .inputs = 2,
    .gradient_names = {"dx", "db"},
    .kernels = {"add_bias_f32", "bias_grad_f32"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
