#include "core/nn/data/files/parameter_arrays.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::nn {

namespace {
void check_fits(const tensor::Tensor& tensor, const Array& array, const std::string& name) {
    if (tensor.dtype != array.dtype || tensor.shape != array.shape)
        throw Failure(fmt::format("{} is {} {} here, but {} {} in the file", name, name_of(tensor.dtype),
                                  tensor::text_of(tensor.shape), name_of(array.dtype), tensor::text_of(array.shape)));
    if (!tensor.contiguous()) throw Failure(fmt::format("{} is a view: only whole tensors are kept in files", name));
}

const Array& array_named(const NamedArrays& arrays, const std::string& name) {
    if (const Array* array = find(arrays, name)) return *array;
    std::vector<std::string> names;
    for (const NamedArray& row : arrays) names.push_back(row.name);
    const std::string nearest = nearest_name(name, names);
    throw Failure(fmt::format("the file has no {}{}", name, nearest.empty() ? "" : fmt::format(", only {}", nearest)));
}
}  // namespace

Array array_of(const tensor::Heap& heap, const tensor::Tensor& tensor) {
    if (!tensor.contiguous()) throw Failure("a view cannot be kept in a file: only whole tensors can");
    Array array{.dtype = tensor.dtype, .shape = tensor.shape};
    array.bytes.resize(static_cast<size_t>(tensor.bytes()));
    if (!array.bytes.empty()) heap.device().copy_out(array.bytes.data(), tensor.pointer(), array.bytes.size());
    return array;
}

void write_array(const tensor::Heap& heap, const tensor::Tensor& tensor, const Array& array, const std::string& name) {
    check_fits(tensor, array, name);
    if (!array.bytes.empty()) heap.device().copy_in(tensor.pointer(), array.bytes.data(), array.bytes.size());
}

std::vector<NamedTensor> tensors_of(const ParameterList& list) {
    std::vector<NamedTensor> all;
    for (const Parameter& parameter : list.parameters()) {
        all.push_back({parameter.name, parameter.value});
        if (parameter.mask) all.push_back({parameter.name + ".mask", parameter.mask});
    }
    for (const Buffer& buffer : list.buffers()) all.push_back({buffer.name, buffer.value});
    return all;
}

NamedArrays arrays_of(const tensor::Heap& heap, std::span<const NamedTensor> tensors) {
    NamedArrays arrays;
    for (const NamedTensor& row : tensors) arrays.push_back({row.name, array_of(heap, row.tensor)});
    return arrays;
}

NamedArrays arrays_of(const tensor::Heap& heap, const ParameterList& list) {
    return arrays_of(heap, tensors_of(list));
}

void restore(const tensor::Heap& heap, std::span<const NamedTensor> tensors, const NamedArrays& arrays) {
    for (const NamedTensor& row : tensors) check_fits(row.tensor, array_named(arrays, row.name), row.name);
    for (const NamedTensor& row : tensors) write_array(heap, row.tensor, array_named(arrays, row.name), row.name);
}

void restore(const tensor::Heap& heap, ParameterList& list, const NamedArrays& arrays) {
    restore(heap, tensors_of(list), arrays);
}

}  // namespace lockstep::nn
