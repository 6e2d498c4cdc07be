// The rows of the ops, one line a file; ops.cpp puts them into the list.
// clang-format off
#pragma once
#include "core/tensor/op.h"

namespace lockstep::tensor {

extern const OpRow add_bias_row;
extern const OpRow add_row, sub_row, mul_row, div_row, pow_row, maximum_row, minimum_row;  // binary.cpp
extern const OpRow bmm_row;
extern const OpRow cat_row, where_row, cast_row, flip_row, tril_row, detach_row;  // choose.cpp
extern const OpRow equal_row, not_equal_row, less_row, less_equal_row, greater_row, greater_equal_row;  // choose.cpp
extern const OpRow matmul_row;
extern const OpRow mse_row;
extern const OpRow sum_row, mean_row, amax_row, amin_row, var_row, prod_row, argmax_row, argmin_row, cumsum_row;  // reduce.cpp
extern const OpRow relu_row;
extern const OpRow softmax_cross_entropy_row;
extern const OpRow neg_row, exp_row, log_row, sqrt_row, rsqrt_row, abs_row, square_row, reciprocal_row, sin_row, cos_row, tanh_row, erf_row;  // unary.cpp
extern const OpRow sigmoid_row, silu_row, gelu_row, gelu_tanh_row, softplus_row, leaky_relu_row, elu_row, clamp_row, inside_row, affine_row, pow_scalar_row;  // unary.cpp
extern const OpRow reshape_row, unsqueeze_row, squeeze_row, permute_row, slice_row, select_row, expand_row, put_slice_row;  // views.cpp
extern const OpRow embedding_row, index_select_row, gather_row, scatter_add_row, one_hot_row, masked_fill_row;  // embedding.cpp, gather.cpp, mask.cpp
extern const OpRow attention_row, rope_row, swiglu_row, glu_row, rnn_cell_row, gru_cell_row, lstm_cell_row, sparse_dense_row, dropout_row;

extern const OpRow conv2d_row, conv_transpose2d_row, max_pool2d_row, avg_pool2d_row, adaptive_avg_pool2d_row;
extern const OpRow softmax_row, log_softmax_row, layer_norm_row, rms_norm_row, group_norm_row, batch_norm_row;
extern const OpRow cross_entropy_row, nll_row, bce_with_logits_row, smooth_l1_row, kl_div_row;
extern const OpRow quantize_int8_row, quantize_windows_row, int8_matmul_row, dequantize_int8_row, requantize_int8_row;  // int8.cpp
extern const OpRow int8_weight_matmul_row, sparse24_matmul_row;  // int8.cpp

}  // namespace lockstep::tensor
