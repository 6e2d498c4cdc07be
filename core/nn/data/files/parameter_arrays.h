// Tensors of a device as arrays of the host, bit for bit in their own type, and back: between a model's ParameterList (or an
// optimizer's tensors) and a Checkpoint's or a safetensors file's NamedArrays.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/nn/data/files/named_array.h"
#include "core/nn/layers/module.h"

namespace lockstep::nn {

Array array_of(const tensor::Heap& heap, const tensor::Tensor& tensor);  // contiguous tensors only; throws Failure
// Overwrites `tensor`. Throws Failure with both types and shapes where they differ.
void write_array(const tensor::Heap& heap, const tensor::Tensor& tensor, const Array& array, const std::string& name);

struct NamedTensor {
    std::string name;
    tensor::Tensor tensor;
};
// Parameters, then buffers, in the list's order and under its names; a parameter's mask behind it ("fc1.weight.mask").
std::vector<NamedTensor> tensors_of(const ParameterList& list);
NamedArrays arrays_of(const tensor::Heap& heap, std::span<const NamedTensor> tensors);
NamedArrays arrays_of(const tensor::Heap& heap, const ParameterList& list);
// Overwrites all parameters and buffers; arrays of other names are left alone. Throws Failure before it writes anything
// where one is missing (with the nearest name) or has another type or shape.
void restore(const tensor::Heap& heap, ParameterList& list, const NamedArrays& arrays);
void restore(const tensor::Heap& heap, std::span<const NamedTensor> tensors, const NamedArrays& arrays);

}  // namespace lockstep::nn
