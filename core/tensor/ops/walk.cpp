#include "core/tensor/ops/walk.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"

namespace lockstep::tensor {

namespace {
constexpr size_t most_axes = 6;
}

void append_strides(Arguments& arguments, const Shape& strides) {
    const size_t lead = most_axes - std::min(most_axes, strides.size());
    for (size_t i = 0; i < most_axes; ++i) arguments.push_back(size_argument(i < lead ? 0 : strides[i - lead]));
}

void append_walk(Arguments& arguments, const Shape& shape, const Shape& strides) {
    if (shape.size() > most_axes)
        throw Failure(
            fmt::format("a view of shape {} has {} axes: kernels walk at most {}", text_of(shape), shape.size(), most_axes));
    const size_t lead = most_axes - shape.size();
    for (size_t i = 0; i < most_axes; ++i) arguments.push_back(size_argument(i < lead ? 1 : shape[i - lead]));
    append_strides(arguments, strides);
}

static Launch walk(std::string_view kernel, device::Pointer from, device::Pointer to, const Tensor& strided) {
    Arguments arguments = {from, to, size_argument(strided.count()), static_cast<int32_t>(strided.shape.size())};
    append_walk(arguments, strided.shape, strided.strides);
    Launch launch = elementwise(kernel, strided.count(), arguments);
    launch.type = strided.dtype;
    return launch;
}

Launch copy_strided(const Tensor& from, const Tensor& to) {
    return walk("copy_strided", from.pointer(), to.pointer(), from);
}
Launch put_strided(const Tensor& from, const Tensor& to) {
    return walk("put_strided", from.pointer(), to.pointer(), to);
}
Launch add_strided(const Tensor& from, const Tensor& to) {
    return walk("add_strided", from.pointer(), to.pointer(), to);
}

Launch sum_strided(const Tensor& x, const Tensor& y, uint32_t summed) {
    Shape kept, kept_strides, over, over_strides;
    for (size_t i = 0; i < x.shape.size(); ++i) {
        const bool sum = summed & 1u << i;
        (sum ? over : kept).push_back(x.shape[i]);
        (sum ? over_strides : kept_strides).push_back(x.strides[i]);
    }
    Arguments arguments = {x.pointer(), y.pointer(), size_argument(count_of(kept)), size_argument(count_of(over))};
    append_walk(arguments, kept, kept_strides);
    append_walk(arguments, over, over_strides);
    Launch launch = elementwise("sum_strided", count_of(kept), arguments);
    launch.type = x.dtype;
    return launch;
}

uint32_t broadcast_axes(const Shape& full, const Shape& shape) {
    uint32_t axes = 0;
    const size_t lead = full.size() - shape.size();
    for (size_t i = 0; i < full.size(); ++i)
        if (i < lead || (shape[i - lead] == 1 && full[i] != 1)) axes |= 1u << i;
    return axes;
}

void reduce_into(BackwardCall& call, size_t input, const Tensor& full) {
    const Shape& shape = call.inputs[input].shape;
    if (full.shape == shape) {
        call.gradients[input] = full;
        return;
    }
    const Tensor& gradient = call.allocate(input);
    call.launch(input, sum_strided(full, gradient, broadcast_axes(full.shape, shape)));
}

void times_upstream(BackwardCall& call, size_t input) {
    if (!call.upstream) return;
    const Tensor& gradient = call.gradients[input];
    Arguments arguments = {gradient.pointer(), call.upstream.pointer(), gradient.pointer(), size_argument(gradient.count()),
                           static_cast<int32_t>(1)};
    append_walk(arguments, {gradient.count()}, {1});
    append_strides(arguments, {0});
    call.launch(input, elementwise("mul_broadcast", gradient.count(), arguments));
}

}  // namespace lockstep::tensor
