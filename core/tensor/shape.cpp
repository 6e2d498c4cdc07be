#include "core/tensor/shape.h"

#include <fmt/format.h>

#include <limits>

#include "core/base/diagnostic.h"

namespace lockstep::tensor {

int64_t count_of(const Shape& shape) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
}

std::string text_of(const Shape& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
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
