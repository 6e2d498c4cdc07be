#include "app/gui/views/machine/lane/lane_number.h"

#include <bit>
#include <cmath>

namespace lockstep::gui {

std::optional<FloatShape> float_shape(ptx::Type type) {
    switch (type) {
        case ptx::Type::f16:
            return FloatShape{16, 10};
        case ptx::Type::bf16:
            return FloatShape{16, 7};
        case ptx::Type::f32:
            return FloatShape{32, 23};
        case ptx::Type::f64:
            return FloatShape{64, 52};
        default:
            return std::nullopt;
    }
}

int FloatParts::exponent() const {
    return unit + static_cast<int>(std::bit_width(significand)) - 1;
}

double FloatParts::lead() const {
    return significand == 0
               ? 0
               : std::ldexp(static_cast<double>(significand), 1 - static_cast<int>(std::bit_width(significand)));
}

FloatParts parts_of(uint64_t bits, const FloatShape& shape) {
    FloatParts parts;
    const uint64_t fraction = bits & ((uint64_t{1} << shape.fraction) - 1);
    const uint64_t field = bits >> shape.fraction & ((uint64_t{1} << shape.exponent_bits()) - 1);
    parts.negative = (bits & shape.sign()) != 0;
    if (field == (uint64_t{1} << shape.exponent_bits()) - 1) {
        parts.nan = fraction != 0;
        parts.infinite = fraction == 0;
        return parts;
    }
    parts.subnormal = field == 0 && fraction != 0;
    parts.significand = field == 0 ? fraction : fraction | uint64_t{1} << shape.fraction;
    parts.unit = (field == 0 ? shape.least() : static_cast<int>(field) - shape.bias()) - shape.fraction;
    return parts;
}

void Exact::add_at(int power, uint64_t value) {
    const int at = power - lowest, shift = at % 64;
    auto w = static_cast<size_t>(at / 64);
    const uint64_t low = value << shift, high = shift == 0 ? 0 : value >> (64 - shift);
    bool carry = false;
    for (const uint64_t part : {low, high}) {
        if (w >= word_.size()) return;
        const uint64_t before = word_[w];
        word_[w] += part;
        const bool over = word_[w] < before;
        word_[w] += carry ? 1 : 0;
        carry = over || (carry && word_[w] == 0);
        ++w;
    }
    for (; carry && w < word_.size(); ++w) carry = ++word_[w] == 0;
}

Exact Exact::of(const FloatParts& parts) {
    Exact e;
    e.negative = parts.negative;
    e.add_at(parts.unit, parts.significand);
    return e;
}

Exact Exact::of_integer(bool negative, uint64_t magnitude) {
    Exact e;
    e.negative = negative;
    e.add_at(0, magnitude);
    return e;
}

Exact Exact::product(const FloatParts& a, const FloatParts& b) {
    Exact e;
    e.negative = a.negative != b.negative;
    const uint64_t low = 0xffffffffu, parts_a[] = {a.significand & low, a.significand >> 32},
                   parts_b[] = {b.significand & low, b.significand >> 32};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) e.add_at(a.unit + b.unit + 32 * (i + k), parts_a[i] * parts_b[k]);
    return e;
}

int Exact::compare(const Exact& other) const {
    for (size_t w = word_.size(); w-- > 0;)
        if (word_[w] != other.word_[w]) return word_[w] < other.word_[w] ? -1 : 1;
    return 0;
}

Exact Exact::plus(const Exact& other) const {
    const bool same = negative == other.negative;
    const int order = compare(other);
    if (!same && order == 0) return {};
    const Exact &large = order >= 0 ? *this : other, &small = order >= 0 ? other : *this;
    Exact sum = large;
    bool carry = false;
    for (size_t w = 0; w < sum.word_.size(); ++w) {
        const uint64_t a = large.word_[w], b = small.word_[w], in = carry ? 1 : 0;
        sum.word_[w] = same ? a + b + in : a - b - in;
        carry = same ? (carry ? sum.word_[w] <= a : sum.word_[w] < a) : (carry ? a <= b : a < b);
    }
    return sum;
}

bool Exact::zero() const {
    for (const uint64_t w : word_)
        if (w != 0) return false;
    return true;
}

int Exact::exponent() const {
    for (size_t w = word_.size(); w-- > 0;)
        if (word_[w] != 0) return lowest + static_cast<int>(64 * w) + static_cast<int>(std::bit_width(word_[w])) - 1;
    return lowest;
}

bool Exact::bit(int power) const {
    const int at = power - lowest;
    return at >= 0 && at < 64 * words && (word_[static_cast<size_t>(at / 64)] >> (at % 64) & 1) != 0;
}

uint64_t Exact::bits_from(int power) const {
    uint64_t value = 0;
    for (int k = 0; k < 64; ++k) value |= static_cast<uint64_t>(bit(power + k)) << k;
    return value;
}

bool Exact::any_below(int power) const {
    const int at = power - lowest;
    if (at <= 0) return false;
    const auto whole = static_cast<size_t>(at / 64);
    for (size_t w = 0; w < std::min(whole, word_.size()); ++w)
        if (word_[w] != 0) return true;
    return whole < word_.size() && (word_[whole] & ((uint64_t{1} << (at % 64)) - 1)) != 0;
}

double Exact::share_below(int power) const {
    return std::ldexp(static_cast<double>(bits_from(power - 52) & ((uint64_t{1} << 52) - 1)), -52);
}

double Exact::lead() const {
    return zero() ? 0 : std::ldexp(static_cast<double>(bits_from(exponent() - 52) & ((uint64_t{1} << 53) - 1)), -52);
}

Rounded round_to(const Exact& number, const FloatShape& shape, Rounding rounding) {
    Rounded r;
    const uint64_t sign = number.negative ? shape.sign() : 0;
    r.bits = sign;
    if (number.zero()) return r;
    const int unit = std::max(number.exponent(), shape.least()) - shape.fraction;
    uint64_t kept = number.bits_from(unit);
    const bool half = (number.bits_from(unit - 1) & 1) != 0, less = number.any_below(unit - 1);
    r.exact = !half && !less;
    r.tie = half && !less;
    r.rest = number.share_below(unit);
    switch (rounding) {
        case Rounding::nearest:
            r.away = half && (less || (kept & 1) != 0);
            break;
        case Rounding::zero:
            break;
        case Rounding::down:
            r.away = !r.exact && number.negative;
            break;
        case Rounding::up:
            r.away = !r.exact && !number.negative;
            break;
    }
    kept += r.away ? 1 : 0;
    // The leading one counts as one in the exponent's field; a carry out of the fraction makes the next exponent.
    const int field = unit + shape.fraction - shape.least();
    const uint64_t encoded = (static_cast<uint64_t>(field) << shape.fraction) + kept;
    const int most = (1 << shape.exponent_bits()) - 1;
    r.beyond = field + 1 >= most + 1 || encoded >= shape.infinity();
    r.subnormal = !r.beyond && encoded < uint64_t{1} << shape.fraction;
    const bool to_infinity = rounding == Rounding::nearest || (rounding == Rounding::down && number.negative) ||
                             (rounding == Rounding::up && !number.negative);
    r.bits = sign | (!r.beyond ? encoded : to_infinity ? shape.infinity() : shape.infinity() - 1);
    return r;
}

}  // namespace lockstep::gui
