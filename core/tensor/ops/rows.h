// The rows of the ops, one file a row; ops.cpp puts them into the list.
#pragma once
#include "core/tensor/op.h"

namespace lockstep::tensor {

extern const OpRow add_row, matmul_row, add_bias_row, relu_row, softmax_cross_entropy_row, mse_row, sum_row, mean_row;

}  // namespace lockstep::tensor
