// The list of ops: op(relu) is the row relu_row of elementwise/relu.cpp. Everything that walks or finds ops reads this list.
#pragma once
#include "core/tensor/op.h"

// clang-format off
#define LOCKSTEP_OPS(op) \
    op(matmul) op(bmm) op(add_bias) \
    op(add) op(sub) op(mul) op(div) op(pow) op(maximum) op(minimum) \
    op(neg) op(exp) op(log) op(sqrt) op(rsqrt) op(abs) op(square) op(reciprocal) op(sin) op(cos) op(tanh) op(erf) \
    op(sigmoid) op(relu) op(silu) op(gelu) op(gelu_tanh) op(softplus) op(leaky_relu) op(elu) op(clamp) op(inside) op(affine) op(pow_scalar) \
    op(sum) op(mean) op(amax) op(amin) op(var) op(prod) op(argmax) op(argmin) op(cumsum) \
    op(reshape) op(unsqueeze) op(squeeze) op(permute) op(slice) op(select) op(expand) op(put_slice) op(detach) \
    op(cat) op(where) op(equal) op(not_equal) op(less) op(less_equal) op(greater) op(greater_equal) op(cast) op(flip) op(tril) \
    op(conv2d) op(conv_transpose2d) op(max_pool2d) op(avg_pool2d) op(adaptive_avg_pool2d) op(softmax) op(log_softmax) \
    op(layer_norm) op(rms_norm) op(group_norm) op(batch_norm) \
    op(cross_entropy) op(nll) op(bce_with_logits) op(smooth_l1) op(kl_div) \
    op(softmax_cross_entropy) \
    op(mse) \
    op(embedding) op(index_select) op(gather) op(scatter_add) op(one_hot) op(masked_fill) \
    op(attention) op(rope) op(swiglu) op(glu) op(rnn_cell) op(gru_cell) op(lstm_cell) op(sparse_dense) op(dropout) \
    op(quantize_int8) op(quantize_windows) op(int8_matmul) op(dequantize_int8) op(requantize_int8) op(int8_linear) op(int8_weight_matmul) op(sparse24_matmul)
// clang-format on

namespace lockstep::tensor {

#define ROW(name) extern const OpRow name##_row;
LOCKSTEP_OPS(ROW)
#undef ROW

}  // namespace lockstep::tensor
