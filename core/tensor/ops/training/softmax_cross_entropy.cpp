// The mean over the rows of -log softmax(logits)[label]: [R,C], labels [R] -> [].
// Backward is (p - onehot) upstream / R, from the probabilities that forward keeps.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/training/label_refusal.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

static Shape shape(Types in, const Attributes&) {
    const Shape &logits = in[0].shape, &labels = in[1].shape;
    if (logits.size() != 2 || labels.size() != 1 || logits[0] != labels[0])
        throw Failure(fmt::format("logits of shape {} need one label a row, but the labels have shape {}", text_of(logits),
                                  text_of(labels)));
    if (in[1].dtype != DType::i32) throw Failure(fmt::format("labels are i32, not {}", name_of(in[1].dtype)));
    return {};
}

static void forward(ForwardCall& call) {
    const Tensor &logits = call.inputs[0], &labels = call.inputs[1];
    const int64_t rows = logits.shape[0], classes = logits.shape[1];
    if (labels.largest >= classes) refuse_label(call, logits, labels);
    const Tensor losses = call.temporary({rows}, "rows");
    const Tensor probabilities = call.temporary({rows, classes}, "probabilities");
    call.launch({"softmax_cross_entropy",
                 {static_cast<uint32_t>((rows + 3) / 4), 1, 1},
                 {128, 1, 1},
                 {logits.pointer(), labels.pointer(), losses.pointer(), probabilities.pointer(), size_argument(rows),
                  size_argument(classes)}});
    call.launch({"reduce_mean", {1, 1, 1}, {256, 1, 1}, {losses.pointer(), call.output.pointer(), size_argument(rows)}},
                "mean");
    call.save("probabilities", probabilities);
    call.save_input(1);
}

static void backward(BackwardCall& call) {
    const Tensor &probabilities = call.kept(0), &labels = call.kept(1);
    const int64_t rows = probabilities.shape[0], classes = probabilities.shape[1];
    const double scale = 1.0 / static_cast<double>(rows);
    const Tensor& dlogits = call.allocate(0);
    call.launch(0, elementwise("softmax_cross_entropy_backward", dlogits.count(),
                               {probabilities.pointer(), labels.pointer(), dlogits.pointer(), size_argument(rows),
                                size_argument(classes), scalar_argument(scale, call.dtype)}));
    times_upstream(call, 0);
}

// Operations a logit: maximum, subtract, exponential, add, divide; a row: logarithm, two subtractions, one of the mean.
static OpCost cost(Types in, const Attributes&) {
    const double rows = double(in[1].count()), n = double(in[0].count()), e = double(size_of(in[0].dtype));
    return {{5 * n + 4 * rows, e * (2 * n + 2 * rows + 1) + 4 * rows}, {3 * n, e * (4 * n + 1) + 4 * rows}};
}

static std::vector<Sample> samples(Rng& rng) {
    return {{{{1, 2}, {1}}}, {{{5, 10}, {5}}}, {{{3, 40 + int64_t(rng.below(30))}, {3}}}};
}

const OpRow softmax_cross_entropy_row = {
    .name = "softmax_cross_entropy",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dlogits"},
    .kernels = {"softmax_cross_entropy", "reduce_mean", "softmax_cross_entropy_backward", "mul_broadcast"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
