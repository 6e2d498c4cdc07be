// Whether two numbers count as the same. Infinities equal themselves alone; NaN equals nothing, not even NaN.
#pragma once
#include <algorithm>
#include <cmath>

namespace lockstep {

inline bool within(double a, double b, double most) {
    return a == b || (std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= most);
}
// Of the larger of the two, or of `least` where both are smaller.
inline bool close_enough(double a, double b, double relative, double least = 0) {
    return within(a, b, relative * std::max({std::fabs(a), std::fabs(b), least}));
}

}  // namespace lockstep
