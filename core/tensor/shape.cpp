#include "core/tensor/shape.h"

#include <fmt/format.h>

#include <limits>

#include "core/base/diagnostic.h"

namespace lockstep::tensor {

void Shape::too_many() {
    throw Failure(fmt::format("a tensor has at most {} extents", most));
}

int64_t count_of(const Shape& shape) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
}

std::string text_of(const Shape& shape) {
    return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

Shape strides_of(const Shape& shape) {
    Shape strides = shape;
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= shape[i];
    }
    return strides;
}

size_t axis_of(int64_t axis, size_t rank) {
    const auto all = static_cast<int64_t>(rank);
    if (axis < -all || axis >= all) throw Failure(fmt::format("there is no axis {} in a tensor of {} axes", axis, rank));
    return static_cast<size_t>(axis < 0 ? axis + all : axis);
}

Shape broadcast(const Shape& a, const Shape& b) {
    Shape result = a.size() >= b.size() ? a : b;
    const Shape& other = a.size() >= b.size() ? b : a;
    const size_t lead = result.size() - other.size();
    for (size_t i = 0; i < other.size(); ++i) {
        int64_t& extent = result[lead + i];
        if (extent != other[i] && extent != 1 && other[i] != 1)
            throw Failure(fmt::format("{} and {} do not broadcast: counted from the right, extents must be equal or 1",
                                      text_of(a), text_of(b)));
        extent = std::max(extent, other[i]);
    }
    return result;
}

void check_shape(const Shape& shape, const std::string& name) {
    int64_t count = 1;
    for (int64_t extent : shape) {
        if (extent < 1)
            throw Failure(fmt::format("{} of shape {} has an extent of {}: at least 1", name, text_of(shape), extent));
        if (extent > std::numeric_limits<int32_t>::max() / count)
            throw Failure(fmt::format("{} of shape {} is too large: at most 2147483647 elements", name, text_of(shape)));
        count *= extent;
    }
}

}  // namespace lockstep::tensor
