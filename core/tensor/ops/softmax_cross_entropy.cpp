// The mean over the rows of -log softmax(logits)[label]: [R,C], labels [R] -> [].
// Backward is (p - onehot) upstream / R, from the probabilities that forward keeps.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Shape shape(const std::vector<Shape>& in, const Attributes&, const std::string& name) {
    if (in[0].size() != 2 || in[1].size() != 1 || in[0][0] != in[1][0])
        throw Failure(fmt::format("{}: logits of shape {} need one label a row, but the labels have shape {}", name,
                                  text_of(in[0]), text_of(in[1])));
    return {};
}

static void forward(ForwardCall& call) {
    const Tensor &logits = call.inputs[0], &labels = call.inputs[1];
    const int64_t rows = logits.shape[0], classes = logits.shape[1];
    if (labels.largest >= classes)
        throw Failure(fmt::format("{}: the label {} is outside the {} classes of logits of shape {}", call.name,
                                  labels.largest, classes, text_of(logits.shape)));
    const Tensor losses = call.temporary({rows}, "rows");
    const Tensor probabilities = call.temporary({rows, classes}, "probabilities");
    call.launch({"softmax_cross_entropy_f32",
                 {static_cast<uint32_t>((rows + 3) / 4), 1, 1},
                 {128, 1, 1},
                 {logits.pointer(), labels.pointer(), losses.pointer(), probabilities.pointer(), size_argument(rows),
                  size_argument(classes)}});
    call.launch({"reduce_mean_f32", {1, 1, 1}, {256, 1, 1}, {losses.pointer(), call.output.pointer(), size_argument(rows)}},
                call.name + " mean");
    call.save("probabilities", probabilities);
    call.save_input(1);
}

static void backward(BackwardCall& call) {
    const Tensor &probabilities = call.saved[0].tensor, &labels = call.saved[1].tensor;
    const int64_t rows = probabilities.shape[0], classes = probabilities.shape[1];
    const float scale = call.upstream_scalar() / static_cast<float>(rows);
    const Tensor& dlogits = call.allocate(0);
    call.launch(0, elementwise("softmax_cross_entropy_backward_f32", dlogits.count(),
                               {probabilities.pointer(), labels.pointer(), dlogits.pointer(), size_argument(rows),
                                size_argument(classes), scale}));
}

// Operations a logit: maximum, subtract, exponential, add, divide; a row: logarithm, two subtractions, one of the mean.
static OpCost cost(const std::vector<Shape>& in, const Attributes&) {
    const double rows = double(in[0][0]), n = double(count_of(in[0]));
    return {{5 * n + 4 * rows, 8 * n + 12 * rows + 4}, {2 * n, 8 * n + 4 * rows}};
}

static std::vector<Sample> samples(Rng& rng) {
    return {{{{1, 2}, {1}}}, {{{5, 10}, {5}}}, {{{3, 40 + int64_t(rng.below(30))}, {3}}}};
}

const OpRow softmax_cross_entropy_row = {
    .name = "softmax_cross_entropy",
    .inputs = 2,
    .label_input = 1,
    .gradient_names = {"dlogits"},
    .kernels = {"softmax_cross_entropy_f32", "reduce_mean_f32", "softmax_cross_entropy_backward_f32"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
