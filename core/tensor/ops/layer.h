// Launch shapes and types that the ops of layers share: convolution, pooling, softmax, normalisations, losses.
#pragma once
#include "core/tensor/op.h"

namespace lockstep::tensor {

inline Launch warp_a_row(std::string_view kernel, int64_t rows, Arguments arguments) {
    return {kernel, {static_cast<uint32_t>((rows + 3) / 4), 1, 1}, {128, 1, 1}, arguments};
}
inline Launch block_each(std::string_view kernel, int64_t blocks, Arguments arguments) {
    return {kernel, {static_cast<uint32_t>(blocks), 1, 1}, {256, 1, 1}, arguments};
}
// A block of (32, 8) for 32 columns.
inline Launch block_of_columns(std::string_view kernel, int64_t columns, Arguments arguments) {
    return {kernel, {static_cast<uint32_t>((columns + 31) / 32), 1, 1}, {32, 8, 1}, arguments};
}

inline DType sum_type(DType type) {  // what kernels add in, and keep statistics in
    return type == DType::f64 ? DType::f64 : DType::f32;
}

// Kernels that may do without an upstream gradient: `reach` 0 (it is 1), 1 (one number), 2 (one a loss).
inline int32_t reach_of(const BackwardCall& call) {
    return !call.upstream ? 0 : call.upstream.shape.empty() ? 1 : 2;
}
inline device::Argument upstream_or(const BackwardCall& call, const Tensor& instead) {  // not read where reach is 0
    return (call.upstream ? call.upstream : instead).pointer();
}

}  // namespace lockstep::tensor
