// Extents of a tensor, outermost first; [] is a scalar.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::tensor {

using Shape = std::vector<int64_t>;

int64_t count_of(const Shape& shape);     // elements
std::string text_of(const Shape& shape);  // "[64, 784]"

// Throws Failure unless every extent is at least 1 and kernels can count the elements in an int.
void check_shape(const Shape& shape, const std::string& name);

}  // namespace lockstep::tensor
