// Types of floating-point numbers by their bits: how far they reach, how fine they are, and what becomes of a number in
// each.
#pragma once
#include <span>
#include <string_view>

namespace lockstep::gui {

struct NumberFormat {
    std::string_view name;      // "bf16"
    int exponent = 8;           // bits
    int fraction = 7;           // bits behind the leading one
    int stored = 16;            // bits that one takes in memory
    double most = 0;            // the largest number; 0: as IEEE 754 has it, the largest exponent kept for infinity
    std::string_view remark{};  // ""
    double largest() const;
    double least_normal() const;
    double least() const;  // above zero: the last bit of a subnormal number
};
// f32, tf32, bf16, f16 and the two of eight bits: IEEE 754, NVIDIA's A100 white paper, and "FP8 formats for deep learning".
std::span<const NumberFormat> number_formats();

// The distance of the format's numbers where `value` stands.
double step_at(const NumberFormat& format, double value);
// The nearest number of the format, ties to the even one; infinity where that is beyond the largest.
double nearest_in(const NumberFormat& format, double value);

}  // namespace lockstep::gui
