// Launches of the kernels that walk a tensor by its strides (kernels/strided.cu), for the ops whose indices are not 0..n.
#pragma once
#include "core/tensor/op.h"

namespace lockstep::tensor {

// Six extents with leading ones, then six strides: as these kernels take a shape. Throws Failure beyond six axes.
void append_walk(Arguments& arguments, const Shape& shape, const Shape& strides);
void append_strides(Arguments& arguments, const Shape& strides);  // of another tensor of the same shape

Launch copy_strided(const Tensor& from, const Tensor& to);  // to: contiguous, of from's shape
Launch put_strided(const Tensor& from, const Tensor& to);   // to[...] = from[...]; from: contiguous, of to's shape
Launch add_strided(const Tensor& from, const Tensor& to);   // to[...] += from[...]; from: contiguous, of to's shape
// y = the sums of x over the axes of x whose bit is set, each in index order. y: contiguous, the other axes in order.
Launch sum_strided(const Tensor& x, const Tensor& y, uint32_t summed);

// Which axes of `full` a tensor of shape `shape` was broadcast over (for sum_strided).
uint32_t broadcast_axes(const Shape& full, const Shape& shape);
// Gradient of an input that was broadcast: `full`, summed to the input's shape (or itself, where nothing was broadcast).
void reduce_into(BackwardCall& call, size_t input, const Tensor& full);
// The gradient of a loss, found for an upstream of 1, times the upstream scalar; nothing where that is the 1 itself.
void times_upstream(BackwardCall& call, size_t input);

}  // namespace lockstep::tensor
