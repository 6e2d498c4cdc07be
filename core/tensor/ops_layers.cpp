// What model code calls of layers and losses: each records one node.
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

// The inputs that are there, in order.
static Variable apply(Tape& tape, const OpRow& row, std::initializer_list<Variable> inputs, NodeName name,
                      const Attributes& attributes) {
    std::array<Variable, 5> there;
    size_t count = 0;
    for (const Variable& input : inputs)
        if (input.node >= 0) there.at(count++) = input;
    return tape.apply(row, std::span<const Variable>(there.data(), count), std::move(name), attributes);
}

static Attributes with(const Window& window) {
    Attributes a;
    a.stride = window.stride, a.padding = window.padding, a.dilation = window.dilation, a.groups = window.groups;
    a.mode = window.im2col ? 1 : 0;
    return a;
}

Variable conv2d(Tape& tape, const Variable& x, const Variable& w, const Variable& bias, NodeName name,
                const Window& window) {
    return apply(tape, conv2d_row, {x, w, bias}, std::move(name), with(window));
}
Variable conv_transpose2d(Tape& tape, const Variable& x, const Variable& w, const Variable& bias, NodeName name,
                          const Window& window, std::array<int64_t, 2> end) {
    Attributes a = with(window);
    a.sizes = {end[0], end[1]};
    return apply(tape, conv_transpose2d_row, {x, w, bias}, std::move(name), a);
}

Variable max_pool2d(Tape& tape, const Variable& x, std::array<int64_t, 2> kernel, NodeName name, const Window& window) {
    Attributes a = with(window);
    a.kernel = kernel;
    return tape.apply(max_pool2d_row, {x}, std::move(name), a);
}
Variable avg_pool2d(Tape& tape, const Variable& x, std::array<int64_t, 2> kernel, NodeName name, const Window& window,
                    bool count_padding) {
    Attributes a = with(window);
    a.kernel = kernel;
    a.mode = count_padding ? 0 : 1;
    return tape.apply(avg_pool2d_row, {x}, std::move(name), a);
}
Variable adaptive_avg_pool2d(Tape& tape, const Variable& x, std::array<int64_t, 2> size, NodeName name) {
    return tape.apply(adaptive_avg_pool2d_row, {x}, std::move(name), {.sizes = {size[0], size[1]}});
}

Variable softmax(Tape& tape, const Variable& x, int64_t axis, NodeName name) {
    return tape.apply(softmax_row, {x}, std::move(name), {.axis = axis});
}
Variable softmax_causal(Tape& tape, const Variable& x, NodeName name) {
    return tape.apply(softmax_row, {x}, std::move(name), {.causal = true, .axis = -1});
}
Variable log_softmax(Tape& tape, const Variable& x, int64_t axis, NodeName name) {
    return tape.apply(log_softmax_row, {x}, std::move(name), {.axis = axis});
}

Variable layer_norm(Tape& tape, const Variable& x, const Variable& weight, const Variable& bias, NodeName name,
                    double epsilon) {
    return apply(tape, layer_norm_row, {x, weight, bias}, std::move(name), {.alpha = epsilon});
}
Variable rms_norm(Tape& tape, const Variable& x, const Variable& weight, NodeName name, double epsilon) {
    return apply(tape, rms_norm_row, {x, weight}, std::move(name), {.alpha = epsilon});
}
Variable group_norm(Tape& tape, const Variable& x, int64_t groups, const Variable& weight, const Variable& bias,
                    NodeName name, double epsilon) {
    return apply(tape, group_norm_row, {x, weight, bias}, std::move(name), {.groups = groups, .alpha = epsilon});
}
Variable batch_norm(Tape& tape, const Variable& x, const Variable& weight, const Variable& bias,
                    const Variable& running_mean, const Variable& running_variance, bool training, NodeName name,
                    int64_t ghosts, double momentum, double epsilon) {
    return apply(tape, batch_norm_row, {x, weight, bias, running_mean, running_variance}, std::move(name),
                 {.training = training, .groups = ghosts, .alpha = epsilon, .beta = momentum});
}

static int mode_of(LossReduction reduction) {
    return static_cast<int>(reduction);
}
Variable cross_entropy(Tape& tape, const Variable& logits, const Variable& labels, NodeName name, double smoothing,
                       LossReduction reduction, int64_t ignored) {
    return tape.apply(cross_entropy_row, {logits, labels}, std::move(name),
                      {.alpha = smoothing, .mode = mode_of(reduction), .ignored = ignored});
}
Variable nll(Tape& tape, const Variable& log_probabilities, const Variable& labels, NodeName name, LossReduction reduction,
             int64_t ignored) {
    return tape.apply(nll_row, {log_probabilities, labels}, std::move(name),
                      {.mode = mode_of(reduction), .ignored = ignored});
}
Variable bce_with_logits(Tape& tape, const Variable& logits, const Variable& target, NodeName name,
                         LossReduction reduction) {
    return tape.apply(bce_with_logits_row, {logits, target}, std::move(name), {.mode = mode_of(reduction)});
}
Variable l1(Tape& tape, const Variable& prediction, const Variable& target, NodeName name, LossReduction reduction) {
    return smooth_l1(tape, prediction, target, std::move(name), 0, reduction);
}
Variable smooth_l1(Tape& tape, const Variable& prediction, const Variable& target, NodeName name, double beta,
                   LossReduction reduction) {
    return tape.apply(smooth_l1_row, {prediction, target}, std::move(name), {.alpha = beta, .mode = mode_of(reduction)});
}
Variable kl_div(Tape& tape, const Variable& log_probabilities, const Variable& target, NodeName name,
                LossReduction reduction) {
    return tape.apply(kl_div_row, {log_probabilities, target}, std::move(name), {.mode = mode_of(reduction)});
}

}  // namespace lockstep::tensor
