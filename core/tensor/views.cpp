// Views of a tensor: the same storage under another shape, other strides and another offset.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/tensor.h"

namespace lockstep::tensor {

Tensor reshaped(const Tensor& tensor, const Shape& wanted) {
    if (!tensor.contiguous())
        throw Failure(
            fmt::format("a view of shape {} with gaps cannot be reshaped to {}", text_of(tensor.shape), text_of(wanted)));
    Shape shape = wanted;
    int64_t known = 1, unknown = -1;
    bool possible = true;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == -1 && unknown < 0) {
            unknown = static_cast<int64_t>(i);
        } else if (shape[i] < 1 || shape[i] > tensor.count() / known) {
            possible = false;
            break;
        } else {
            known *= shape[i];
        }
    }
    if (possible && unknown >= 0) {
        shape[static_cast<size_t>(unknown)] = tensor.count() / known;
        known *= tensor.count() / known;
    }
    if (!possible || known != tensor.count())
        throw Failure(
            fmt::format("{} cannot be reshaped to {}: {} elements", text_of(tensor.shape), text_of(wanted), tensor.count()));
    Tensor view = tensor;
    view.shape = shape;
    view.strides = strides_of(shape);
    return view;
}

Tensor permuted(const Tensor& tensor, const Shape& axes) {
    Tensor view = tensor;
    Shape seen = Shape::filled(tensor.shape.size(), 0);
    bool right = axes.size() == tensor.shape.size();
    for (size_t i = 0; right && i < axes.size(); ++i) {
        const size_t from = axis_of(axes[i], axes.size());
        right = seen[from]++ == 0;
        view.shape[i] = tensor.shape[from];
        view.strides[i] = tensor.strides[from];
    }
    if (!right)
        throw Failure(fmt::format("axes {} do not permute {}: each axis once", text_of(axes), text_of(tensor.shape)));
    return view;
}

Tensor sliced(const Tensor& tensor, int64_t axis, int64_t start, int64_t stop, int64_t step) {
    const size_t a = axis_of(axis, tensor.shape.size());
    const int64_t extent = tensor.shape[a];
    const int64_t from = start < 0 ? start + extent : start, to = stop < 0 ? stop + extent : std::min(stop, extent);
    if (step < 1 || from < 0 || from >= to)
        throw Failure(fmt::format("a slice from {} to {} by {} takes nothing from axis {} of {}", start, stop, step, a,
                                  text_of(tensor.shape)));
    Tensor view = tensor;
    view.shape[a] = (to - from + step - 1) / step;
    view.strides[a] = tensor.strides[a] * step;
    view.offset += from * tensor.strides[a];
    return view;
}

Tensor expanded(const Tensor& tensor, const Shape& shape) {
    const size_t lead = shape.size() - std::min(shape.size(), tensor.shape.size());
    bool right = shape.size() >= tensor.shape.size();
    Tensor view = tensor;
    view.shape = shape;
    view.strides = Shape::filled(shape.size(), 0);
    for (size_t i = lead; right && i < shape.size(); ++i) {
        const int64_t extent = tensor.shape[i - lead];
        if (extent == shape[i]) view.strides[i] = tensor.strides[i - lead];
        right = extent == shape[i] || extent == 1;
    }
    if (!right)
        throw Failure(fmt::format("{} does not expand to {}: counted from the right, extents must be equal or 1",
                                  text_of(tensor.shape), text_of(shape)));
    return view;
}

}  // namespace lockstep::tensor
