// Ops of cheaper arithmetic: products of 8-bit integers, and of weights of which two of four are kept. None has a gradient.
// Integers of 8 bits are tensors of u8 whose last axis is padded with zeros to a multiple of 4; scales are f32 [1], one for
// a whole matrix, or [N], one for each of its rows. A number is about its scale times its integer.
#pragma once
#include "core/tensor/ops.h"

namespace lockstep::tensor {

// x[..., K] -> u8 [..., K'], K' = K rounded up to 4: x / scale to the nearest, at most 127 from zero.
Variable quantize_int8(Tape&, const Variable& x, double scale, NodeName name);
// The windows of a convolution, x[N,C,H,W] -> u8 [N OH OW, K'], K = C KH KW. Of the window: stride and padding.
Variable quantize_windows(Tape&, const Variable& x, std::array<int64_t, 2> kernel, double scale, NodeName name,
                          const Window& window = {});
Variable int8_matmul(Tape&, const Variable& a, const Variable& b, NodeName name);  // [..., K'] [N,K'] -> i32 [..., N]
// sums[..., N] -> f32: scale of the left operand, scales of the right one's rows.
Variable dequantize_int8(Tape&, const Variable& sums, const Variable& scales, double scale, NodeName name);
// The same of windows: sums[N OH OW, F] -> [N,F,OH,OW].
Variable dequantize_windows(Tape&, const Variable& sums, const Variable& scales, double scale, const Shape& picture,
                            NodeName name);
// sums[M,N] -> u8 [M,N'] for the next product: scales times sums plus bias[N], a ReLU if asked for, over scale_out.
Variable requantize_int8(Tape&, const Variable& sums, const Variable& scales, const Variable& bias, double scale,
                         double scale_out, bool relu, NodeName name);
extern const OpRow int8_linear_row;  // of the list, int8.cpp
// All three in one kernel, to the bit, with neither integers nor sums in memory: f32 x[..., K], u8 [N,K'] -> [..., N].
Variable int8_linear(Tape&, const Variable& x, const Variable& weight, const Variable& scales, double scale, NodeName name);
Variable int8_weight_matmul(Tape&, const Variable& x, const Variable& weight, const Variable& scales,
                            NodeName name);  // f32 [..., K], u8 [N,K'] -> [..., N]
// x[..., K], values[N,K/2], which i32 [N, K/32 rounded up] (kernels/sparse24.cu) -> [..., N].
Variable sparse24_matmul(Tape&, const Variable& x, const Variable& values, const Variable& which, NodeName name);

}  // namespace lockstep::tensor
