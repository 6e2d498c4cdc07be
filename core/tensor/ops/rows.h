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

}  // namespace lockstep::tensor
