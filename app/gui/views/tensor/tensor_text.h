// Numbers as the pictures of tensors write them.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// An element of a tensor: so many digits, and 0 where only rounding is left.
inline std::string element_number(double value, int digits = 3, double zero_below = 5e-4) {
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf";
    return fmt::format("{:.{}g}", std::abs(value) < zero_below ? 0.0 : value, digits);
}

// How many there are: "163,840".
inline std::string whole_number(int64_t count) {
    return readable_number(std::to_string(count));
}

}  // namespace lockstep::gui
