// The list of ops, and what model code calls: each records one node on the tape (those marked "several", a few).
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/op.h"
#include "core/tensor/sequence_ops.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

std::span<const OpRow> ops();
const OpRow& op_named(std::string_view name);  // throws Failure with the nearest name

// Two tensors, broadcast by NumPy's rule.
Variable add(Tape&, const Variable& a, const Variable& b, NodeName name);
Variable sub(Tape&, const Variable& a, const Variable& b, NodeName name);
Variable mul(Tape&, const Variable& a, const Variable& b, NodeName name);
Variable div(Tape&, const Variable& a, const Variable& b, NodeName name);
Variable pow(Tape&, const Variable& a, const Variable& b, NodeName name);
Variable maximum(Tape&, const Variable& a, const Variable& b, NodeName name);
Variable minimum(Tape&, const Variable& a, const Variable& b, NodeName name);

// One tensor, by the op's name: neg exp log sqrt rsqrt abs square reciprocal sin cos tanh erf sigmoid relu silu gelu
// gelu_tanh softplus.
Variable unary(Tape&, std::string_view op, const Variable& x, NodeName name);
Variable relu(Tape&, const Variable& x, NodeName name);
Variable leaky_relu(Tape&, const Variable& x, double slope, NodeName name);
Variable elu(Tape&, const Variable& x, double alpha, NodeName name);
Variable clamp(Tape&, const Variable& x, double low, double high, NodeName name);
Variable affine(Tape&, const Variable& x, double scale, double add, NodeName name);  // scale x + add
Variable pow_scalar(Tape&, const Variable& x, double exponent, NodeName name);

// [..., M,K] [..., K,N] -> [..., M,N], leading extents broadcast; transpose_b: B is [..., N,K]. A plain [K,N] is one
// product.
Variable matmul(Tape&, const Variable& a, const Variable& b, NodeName name, bool transpose_b = false);
Variable add_bias(Tape&, const Variable& x, const Variable& bias, NodeName name);  // [..., C] [C] -> [..., C]

// Over axes (none given: all of them).
Variable sum(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);
Variable mean(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);
Variable amax(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);
Variable amin(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);
Variable prod(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);
Variable var(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false, int correction = 1);
Variable logsumexp(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);  // several
Variable argmax(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);     // -> i64
Variable argmin(Tape&, const Variable& x, NodeName name, const Shape& axes = {}, bool keepdim = false);     // -> i64
Variable cumsum(Tape&, const Variable& x, int64_t axis, NodeName name);
// The gradient of a broadcast: x summed to `shape`, which broadcasts to x's. Several, or none where the shapes are equal.
Variable sum_to(Tape&, const Variable& x, const Shape& shape, NodeName name);

// Views: they share the storage and launch nothing (reshape copies a view that has gaps).
Variable reshape(Tape&, const Variable& x, const Shape& shape, NodeName name);  // one extent may be -1
Variable unsqueeze(Tape&, const Variable& x, int64_t axis, NodeName name);
Variable squeeze(Tape&, const Variable& x, int64_t axis, NodeName name);
Variable permute(Tape&, const Variable& x, const Shape& axes, NodeName name);
Variable transpose(Tape&, const Variable& x, int64_t a, int64_t b, NodeName name);
Variable slice(Tape&, const Variable& x, int64_t axis, int64_t start, int64_t stop, int64_t step, NodeName name);
Variable select(Tape&, const Variable& x, int64_t axis, int64_t index, NodeName name);
Variable expand(Tape&, const Variable& x, const Shape& shape, NodeName name);
Variable detach(Tape&, const Variable& x, NodeName name);  // no gradient passes

Variable cat(Tape&, std::span<const Variable> pieces, int64_t axis, NodeName name);
Variable stack(Tape&, std::span<const Variable> pieces, int64_t axis, NodeName name);                   // several
Variable where(Tape&, const Variable& condition, const Variable& a, const Variable& b, NodeName name);  // condition: u8
Variable compare(Tape&, std::string_view op, const Variable& a, const Variable& b,
                 NodeName name);  // "less_equal" ...: -> u8
Variable cast(Tape&, const Variable& x, DType type, NodeName name);
Variable flip(Tape&, const Variable& x, int64_t axis, NodeName name);
// Zeros around: as many before and after as said for each axis. One node an axis that is padded.
Variable pad(Tape&, const Variable& x, const Shape& before, const Shape& after, NodeName name);
Variable tril(Tape&, const Variable& x, int64_t diagonal, NodeName name);

// Means over the batch, -> []. Shapes must agree exactly: nothing broadcasts.
Variable softmax_cross_entropy(Tape&, const Variable& logits, const Variable& labels, NodeName name);
Variable mse(Tape&, const Variable& prediction, const Variable& target, NodeName name);

// Layers. A Variable of no node, {}, stands for a weight or bias that is not there.
struct Window {  // height, width; of sequences [N,C,L]: 1, length
    std::array<int64_t, 2> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
    int64_t groups = 1;
    bool im2col = false;  // as a product of matrices instead of directly
};
// x[N,C,H,W], w[F,C/groups,KH,KW] (+ bias[F]) -> [N,F,OH,OW]; sequences x[N,C,L], w[F,C/groups,K] -> [N,F,OL].
Variable conv2d(Tape&, const Variable& x, const Variable& w, const Variable& bias, NodeName name, const Window& = {});
// x[N,F,H,W], w[F,C/groups,KH,KW] (+ bias[C]) -> [N,C,OH,OW], `end` rows and columns larger than the smallest.
Variable conv_transpose2d(Tape&, const Variable& x, const Variable& w, const Variable& bias, NodeName name,
                          const Window& = {}, std::array<int64_t, 2> end = {0, 0});
// [N,C,H,W] -> [N,C,OH,OW]. Of the window: stride and padding.
Variable max_pool2d(Tape&, const Variable& x, std::array<int64_t, 2> kernel, NodeName name, const Window&);
Variable avg_pool2d(Tape&, const Variable& x, std::array<int64_t, 2> kernel, NodeName name, const Window&,
                    bool count_padding = true);
Variable adaptive_avg_pool2d(Tape&, const Variable& x, std::array<int64_t, 2> size, NodeName name);
Variable softmax(Tape&, const Variable& x, int64_t axis, NodeName name);
Variable softmax_causal(Tape&, const Variable& x, NodeName name);  // [..., Q, C]: row q sees columns 0 .. q + C - Q
Variable log_softmax(Tape&, const Variable& x, int64_t axis, NodeName name);
// Over the weight's axes, which are x's last; without a weight over the last one.
Variable layer_norm(Tape&, const Variable& x, const Variable& weight, const Variable& bias, NodeName name,
                    double epsilon = 1e-5);
Variable rms_norm(Tape&, const Variable& x, const Variable& weight, NodeName name, double epsilon = 1e-5);
Variable group_norm(Tape&, const Variable& x, int64_t groups, const Variable& weight, const Variable& bias, NodeName name,
                    double epsilon = 1e-5);
// x[N,C,...]. In training the running statistics are written in place; ghosts: how many parts of the batch are normalised
// by themselves.
Variable batch_norm(Tape&, const Variable& x, const Variable& weight, const Variable& bias, const Variable& running_mean,
                    const Variable& running_variance, bool training, NodeName name, int64_t ghosts = 1,
                    double momentum = 0.1, double epsilon = 1e-5);

// Losses. A mean is over elements, of labels over those that are not `ignored`; none: a loss an element or row.
enum class LossReduction : uint8_t { mean, sum, none, batch_mean };
Variable cross_entropy(Tape&, const Variable& logits, const Variable& labels, NodeName name, double smoothing = 0,
                       LossReduction = LossReduction::mean, int64_t ignored = -100);
Variable nll(Tape&, const Variable& log_probabilities, const Variable& labels, NodeName name,
             LossReduction = LossReduction::mean, int64_t ignored = -100);
Variable bce_with_logits(Tape&, const Variable& logits, const Variable& target, NodeName name,
                         LossReduction = LossReduction::mean);
Variable l1(Tape&, const Variable& prediction, const Variable& target, NodeName name, LossReduction = LossReduction::mean);
Variable smooth_l1(Tape&, const Variable& prediction, const Variable& target, NodeName name, double beta = 1,
                   LossReduction = LossReduction::mean);
Variable kl_div(Tape&, const Variable& log_probabilities, const Variable& target, NodeName name,
                LossReduction = LossReduction::batch_mean);

}  // namespace lockstep::tensor
