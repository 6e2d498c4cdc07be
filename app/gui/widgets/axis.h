// Numbers at which an axis ends or has its marks: a power of ten times a factor that reads well.
#pragma once
#include <cmath>
#include <initializer_list>
#include <limits>

namespace lockstep::gui {

struct RoundFactor {
    double up_to, factor;  // of numbers up to `up_to` times their power of ten
};
using RoundFactors = std::initializer_list<RoundFactor>;
inline constexpr double any_other = std::numeric_limits<double>::infinity();

inline constexpr double below_two = 1.999999999, below_three = 2.999999999;
inline constexpr RoundFactors one_two_five = {{1, 1}, {2, 2}, {5, 5}, {any_other, 10}};  // not below the number

// The power of ten that is not above `value`, times the factor that stands for it. `value` is positive and finite.
inline double rounded(double value, RoundFactors factors = one_two_five) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const RoundFactor& one : factors)
        if (value / power <= one.up_to) return power * one.factor;
    return power;
}

// Between the marks of an axis of time that is `length` long.
inline double step_of_time(double length) {
    return rounded(length, {{below_three, 0.2}, {6, 0.5}, {any_other, 1}});
}

}  // namespace lockstep::gui
