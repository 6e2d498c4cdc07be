// Numbers of a lane, taken apart: a float as sign, exponent and fraction, sums and products kept in full, and one rounding
// at the end. Pure functions that know nothing of the executor: what the lane's picture explains is worked out here again.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "core/ptx/opcodes/opcode.h"

namespace lockstep::gui {

struct FloatShape {
    int width = 32, fraction = 23;  // bits
    int exponent_bits() const { return width - 1 - fraction; }
    int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
    int least() const { return 1 - bias(); }  // exponent of the smallest normal number
    uint64_t sign() const { return uint64_t{1} << (width - 1); }
    uint64_t infinity() const { return ((uint64_t{1} << exponent_bits()) - 1) << fraction; }
    uint64_t nan() const { return width == 64 ? 0xfff8000000000000ull : sign() - 1; }  // what NVIDIA GPUs give
    // Of a NaN: where doubles take part its sign and payload, made quiet; as measured on an H200.
    uint64_t nan_from(uint64_t bits, const FloatShape& from, bool flushes) const {
        if (width != 64 && from.width != 64) return nan();
        if (width == 64 && from.width != 64 && flushes) return 0x7fffffffe0000000ull;
        const uint64_t payload =
            fraction > from.fraction ? bits << (fraction - from.fraction) : bits >> (from.fraction - fraction);
        const uint64_t payloads = (uint64_t{1} << fraction) - 1;
        return (bits & from.sign() ? sign() : 0) | infinity() | (payloads + 1) >> 1 | (payload & payloads);
    }
};
std::optional<FloatShape> float_shape(ptx::Type type);  // of f16, bf16, f32, f64

struct FloatParts {
    bool negative = false, nan = false, infinite = false, subnormal = false;
    uint64_t significand = 0;  // with its leading one
    int unit = 0;              // the number is significand * 2^unit
    bool zero() const { return significand == 0 && !nan && !infinite; }
    int exponent() const;  // of the leading one
    double lead() const;   // the number's size is lead * 2^exponent; 1 <= lead < 2, or 0
};
FloatParts parts_of(uint64_t bits, const FloatShape& shape);

// Any sum or product of two floats, in full: a sign and a whole number of 2^-2176.
class Exact {
  public:
    bool negative = false;

    static Exact of(const FloatParts& parts);
    static Exact of_integer(bool negative, uint64_t magnitude);
    static Exact product(const FloatParts& a, const FloatParts& b);
    Exact plus(const Exact& other) const;  // of two that cancel a plus sign
    bool zero() const;
    int exponent() const;  // of the leading one; zero has none
    double lead() const;
    uint64_t bits_from(int power) const;  // the number's size divided by 2^power, without what is below; at most 64 bits
    bool any_below(int power) const;
    double share_below(int power) const;  // what is below 2^power, in units of it

  private:
    static constexpr int words = 68, lowest = -2176;
    std::array<uint64_t, words> word_{};
    void add_at(int power, uint64_t value);
    bool bit(int power) const;
    int compare(const Exact& other) const;
};

enum class Rounding : uint8_t { nearest, zero, down, up };
struct Rounded {
    uint64_t bits = 0;
    double rest = 0;    // that did not fit, in units of the last place
    bool exact = true;  // nothing was lost
    bool away = false;  // from zero
    bool tie = false;   // it lay in the middle
    bool beyond = false, subnormal = false;
};
Rounded round_to(const Exact& number, const FloatShape& shape, Rounding rounding);

}  // namespace lockstep::gui
