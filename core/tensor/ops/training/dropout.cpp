// Dropout: each element is 0 with probability alpha, else divided by 1 - alpha. Which ones: Philox of (seed, offset + place
// / 4), so backward draws them again and nothing is kept. An op over n elements uses ceil(n / 4) counters from `offset` on.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
Shape shape(Types in, const Attributes& attributes) {
    if (!(attributes.alpha >= 0 && attributes.alpha <= 1))
        throw Failure(fmt::format("a probability lies between 0 and 1, not {}", attributes.alpha));
    return in[0].shape;
}
Launch drop(const Tensor& x, const Tensor& y, const Attributes& attributes, DType type) {
    const double p = attributes.training ? attributes.alpha : 0;
    const auto threshold = static_cast<uint32_t>(std::min(p * 0x1p32, 4294967295.0));
    const double scale = p < 1 ? 1 / (1 - p) : 0;
    Launch launch = elementwise(
        "dropout", (x.count() + 3) / 4,
        {x.pointer(), y.pointer(), static_cast<int64_t>(attributes.seed), static_cast<int64_t>(attributes.offset), threshold,
         scalar_argument(scale, type), size_argument(x.count())});
    launch.random_offset = 3;
    return launch;
}
OpCost cost(Types in, const Attributes&) {
    const Cost one = {double(in[0].count()), 2 * in[0].bytes()};
    return {one, one};
}
}  // namespace

const OpRow dropout_row = {
    .name = "dropout",
    .numbers = not_from_text,
    .kernels = {"dropout"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = shape,
    .forward = [](ForwardCall& call) { call.launch(drop(call.inputs[0], call.output, call.attributes, call.dtype)); },
    .backward =
        [](BackwardCall& call) {
            const Tensor& dx = call.allocate(0);
            call.launch(0, drop(call.upstream, dx, call.attributes, call.dtype));
        },
    .cost = cost,
    .samples = [](Rng&) -> std::vector<Sample> {
        return {{{{1}}, {.alpha = 0.5, .seed = 3}},
                {{{7, 9}}, {.alpha = 0.25, .seed = 1ull << 63, .offset = 0xffffffff}},
                {{{5}}, {.training = false, .alpha = 0.9}},
                {{{2, 3}}, {.alpha = 1}}};
    },
};

Variable dropout(Tape& tape, const Variable& x, double probability, RandomCounter& counter, NodeName name) {
    if (probability == 0) return x;
    const uint64_t offset = counter.offset;
    counter.offset += static_cast<uint64_t>((x.value.count() + 3) / 4);
    return tape.apply(dropout_row, {x}, std::move(name), {.alpha = probability, .seed = counter.seed, .offset = offset});
}
void fill_uniform(Tape& tape, const Tensor& tensor, double low, double high, RandomCounter& counter, const Label& label) {
    Launch draw = elementwise(
        "uniform", (tensor.count() + 3) / 4,
        {tensor.pointer(), static_cast<int64_t>(counter.seed), static_cast<int64_t>(counter.offset),
         scalar_argument(low, tensor.dtype), scalar_argument(high, tensor.dtype), size_argument(tensor.count())});
    draw.random_offset = 2;
    tape.launch(draw, label, "data", tensor.dtype);
    counter.offset += static_cast<uint64_t>((tensor.count() + 3) / 4);
}
void fill_normal(Tape& tape, const Tensor& tensor, double mean, double deviation, RandomCounter& counter,
                 const Label& label) {
    Launch draw = elementwise(
        "normal", (tensor.count() + 3) / 4,
        {tensor.pointer(), static_cast<int64_t>(counter.seed), static_cast<int64_t>(counter.offset),
         scalar_argument(mean, tensor.dtype), scalar_argument(deviation, tensor.dtype), size_argument(tensor.count())});
    draw.random_offset = 2;
    tape.launch(draw, label, "data", tensor.dtype);
    counter.offset += static_cast<uint64_t>((tensor.count() + 3) / 4);
}

}  // namespace lockstep::tensor
