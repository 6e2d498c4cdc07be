// Exact arithmetic for the tests' definitions of rounding: numbers as integers of 4,416 bits in units of 2^-2200, and
// rounding as what it is: the neighbour of the exact value, found by bisection over the encodings of a format.
#pragma once
#include <array>
#include <cstdint>
#include <functional>

namespace exact {

// A float format: encodings of magnitudes grow with the numbers.
struct Format {
    int width = 32, fraction = 23;
    bool infinities = true;  // e4m3 has none; its largest is 448
    uint64_t infinity() const { return ((uint64_t{1} << (width - 1 - fraction)) - 1) << fraction; }
    uint64_t largest() const { return infinities ? infinity() - 1 : infinity() + (uint64_t{1} << fraction) - 2; }
    int bias() const { return static_cast<int>((uint64_t{1} << (width - 2 - fraction)) - 1); }
    uint64_t sign() const { return uint64_t{1} << (width - 1); }
    bool nan(uint64_t bits) const {
        const uint64_t magnitude = bits & (sign() - 1);
        return infinities ? magnitude > infinity() : magnitude > largest();
    }
    bool infinite(uint64_t bits) const { return infinities && (bits & (sign() - 1)) == infinity(); }
};
constexpr Format f16{16, 10}, bf16{16, 7}, f32{32, 23}, f64{64, 52}, tf32{19, 10}, e4m3{8, 3, false}, e5m2{8, 2};

class Number {
  public:
    Number() = default;
    static Number scaled(uint64_t significand, int exponent, bool negative) {  // significand * 2^exponent
        Number n;
        const int at = exponent + 2200;
        const auto word = static_cast<size_t>(at / 32);
        const int shift = at % 32;
        const uint64_t low = significand << shift, high = shift ? significand >> (64 - shift) : 0;
        n.words_[word] = static_cast<uint32_t>(low);
        n.words_[word + 1] = static_cast<uint32_t>(low >> 32);
        n.words_[word + 2] = static_cast<uint32_t>(high);
        return negative ? -n : n;
    }
    static Number of(const Format& format, uint64_t bits) {  // of a finite number
        const uint64_t magnitude = bits & (format.sign() - 1), e = magnitude >> format.fraction;
        const uint64_t m = magnitude & ((uint64_t{1} << format.fraction) - 1);
        return scaled(e ? m | uint64_t{1} << format.fraction : m,
                      static_cast<int>(e ? e : 1) - format.bias() - format.fraction, (bits & format.sign()) != 0);
    }
    Number operator-() const {
        Number n;
        uint64_t carry = 1;
        for (size_t k = 0; k < size; ++k) {
            carry += static_cast<uint32_t>(~words_[k]);
            n.words_[k] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        return n;
    }
    Number operator+(const Number& other) const {
        Number n;
        uint64_t carry = 0;
        for (size_t k = 0; k < size; ++k) {
            carry += uint64_t{words_[k]} + other.words_[k];
            n.words_[k] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        return n;
    }
    Number operator-(const Number& other) const { return *this + -other; }
    int compare(const Number& other) const {  // of two that are not negative
        for (size_t k = size; k-- > 0;)
            if (words_[k] != other.words_[k]) return words_[k] < other.words_[k] ? -1 : 1;
        return 0;
    }
    int sign() const {
        if (words_[size - 1] >> 31) return -1;
        for (uint32_t w : words_)
            if (w) return 1;
        return 0;
    }

  private:
    static constexpr size_t size = 138;
    std::array<uint32_t, size> words_{};
};

// a * b of two finite numbers of a format.
inline Number product(const Format& format, uint64_t a, uint64_t b) {
    const auto parts = [&](uint64_t bits, uint64_t& significand, int& exponent) {
        const uint64_t magnitude = bits & (format.sign() - 1), e = magnitude >> format.fraction;
        const uint64_t m = magnitude & ((uint64_t{1} << format.fraction) - 1);
        significand = e ? m | uint64_t{1} << format.fraction : m;
        exponent = static_cast<int>(e ? e : 1) - format.bias() - format.fraction;
    };
    uint64_t x, y;
    int ex, ey;
    parts(a, x, ex), parts(b, y, ey);
    const bool negative = ((a ^ b) & format.sign()) != 0;
    Number total;
    for (int k = 0; k < 53; ++k)
        if (y >> k & 1) total = total + Number::scaled(x, ex + ey + k, false);
    return negative ? -total : total;
}

enum class Rounding { nearest, zero, down, up, away };

// The magnitude of what lies at or below the exact value's magnitude: `within(candidate)` says whether the candidate's
// magnitude is at most the exact one's. Monotone, so bisection finds it.
inline uint64_t largest_within(const Format& format, const std::function<bool(uint64_t)>& within) {
    uint64_t low = 0, high = format.largest();
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        within(middle) ? low = middle : high = middle - 1;
    }
    return low;
}

// Rounds the magnitude whose relation to any number `compare` tells (the sign of exact - number); gives the magnitude's
// encoding, infinity beyond the largest as the rounding has it.
inline uint64_t round_magnitude(const Format& format, const std::function<int(const Number&)>& compare, bool negative,
                                Rounding rounding) {
    const uint64_t below = largest_within(format, [&](uint64_t c) { return compare(Number::of(format, c)) >= 0; });
    const Number at = Number::of(format, below);
    if (compare(at) == 0) return below;
    const bool up = rounding == Rounding::up ? !negative : rounding == Rounding::down ? negative : false;
    if (rounding == Rounding::zero || rounding == Rounding::up || rounding == Rounding::down) return up ? below + 1 : below;
    // halfway to the next, which beyond the largest is what the next exponent would have
    const uint64_t e = below >> format.fraction;
    const int unit = static_cast<int>(e ? e : 1) - format.bias() - format.fraction;
    const int side = compare(at + Number::scaled(1, unit - 1, false));
    const bool next = side > 0 || (side == 0 && (rounding == Rounding::away || (below & 1)));
    return next ? below + 1 : below;
}

// The exact number in the format, with its sign; zero gets `zero_sign`.
inline uint64_t round_to(const Format& format, const Number& value, Rounding rounding, bool negative_zero) {
    const int sign = value.sign();
    if (sign == 0) return negative_zero ? format.sign() : 0;
    const Number magnitude = sign < 0 ? -value : value;
    return (sign < 0 ? format.sign() : 0) |
           round_magnitude(
               format, [&](const Number& n) { return magnitude.compare(n); }, sign < 0, rounding);
}

}  // namespace exact
