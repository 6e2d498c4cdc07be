// How an operation's result comes from its sources, in steps a person can follow with a pencil. Floats are summed and
// multiplied in full and rounded once at the end (lane_number.h), as the hardware is said to do.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "app/gui/views/machine/lane/lane_bits.h"
#include "app/gui/views/machine/lane/lane_number.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

using ptx::Type;
__extension__ typedef __int128 wide_int;
__extension__ typedef unsigned __int128 wide_uint;

// --- floats

std::string_view sign_word(bool negative) {
    return negative ? "−" : "+";
}

std::string shown(double number) {  // "1.875", "0.333333333…"
    const std::string text = fmt::format("{:.10g}", number);
    return std::strtod(text.c_str(), nullptr) == number ? text : text + "…";
}

Rounding rounding_of(const Operation& operation) {
    return operation.has(".rz")   ? Rounding::zero
           : operation.has(".rm") ? Rounding::down
           : operation.has(".rp") ? Rounding::up
                                  : Rounding::nearest;
}

std::string_view name_of_rounding(Rounding rounding) {
    switch (rounding) {
        case Rounding::zero:
            return "toward zero";
        case Rounding::down:
            return "down";
        case Rounding::up:
            return "up";
        default:
            return "to nearest, ties to even";
    }
}

uint64_t flushed(uint64_t bits, const FloatShape& shape) {
    return parts_of(bits, shape).subnormal ? bits & shape.sign() : bits;
}

uint64_t saturated(uint64_t bits, const FloatShape& shape) {
    const FloatParts p = parts_of(bits, shape);
    if (p.nan || p.negative) return 0;
    const uint64_t one = static_cast<uint64_t>(shape.bias()) << shape.fraction;
    return std::min(bits, one);
}

void say_rounding(Explained& e, const Rounded& r, const FloatShape& shape, Rounding rounding) {
    const int places = shape.fraction + 1;
    std::string how;
    if (r.exact)
        how = fmt::format("none: it fits in {} bits", places);
    else if (r.tie && rounding == Rounding::nearest)
        how = fmt::format("half of a last place is left: to the even neighbour, {}", r.away ? "away from 0" : "toward 0");
    else
        how = fmt::format("{:.3g} of a last place is left: {}", r.rest, r.away ? "away from 0" : "toward 0");
    e.steps.push_back({"rounding", how});
    if (!r.exact) e.steps.back().what += rounding == Rounding::nearest ? "" : fmt::format(" {}", name_of_rounding(rounding));
    if (r.beyond)
        e.steps.push_back(
            {"too large", fmt::format("the exponent does not go beyond {}: {}", shape.bias(),
                                      (r.bits & ~shape.sign()) == shape.infinity() ? "infinity" : "the largest number")});
    else if (r.subnormal)
        e.steps.push_back({"very small", fmt::format("below 2^{}: a subnormal, with fewer bits", shape.least())});
}

// The end of every float operation: rounded once, flushed, clamped.
void finish(Explained& e, const Operation& operation, const Exact& number, const FloatShape& shape) {
    const Rounding rounding = rounding_of(operation);
    const Rounded r = round_to(number, shape, rounding);
    say_rounding(e, r, shape, rounding);
    e.bits = r.bits;
    if (operation.has(".ftz") && parts_of(e.bits, shape).subnormal) {
        e.bits = flushed(e.bits, shape);
        e.steps.push_back({".ftz", "a subnormal becomes 0"});
    } else if (operation.has(".ftz") && shape.width == 32 && operation.name != "cvt" && !parts_of(e.bits, shape).zero()) {
        // As an H200 has it: what counts is the result as if exponents had no end.
        const FloatShape endless{48, shape.fraction};
        if (parts_of(round_to(number, endless, rounding).bits, endless).exponent() < shape.least()) {
            e.bits &= shape.sign();
            e.steps.push_back({".ftz", "below the smallest normal number before it is rounded up to it: 0"});
        }
    }
    if (operation.has(".sat")) {
        const uint64_t clamped = saturated(e.bits, shape);
        e.steps.push_back({".sat", clamped == e.bits ? "it lies between 0 and 1" : "clamped to between 0 and 1"});
        e.bits = clamped;
    }
}

void special(Explained& e, const Operation& operation, uint64_t bits, const FloatShape& shape, std::string what,
             std::string how) {
    e.known = true;
    e.steps.push_back({std::move(what), std::move(how)});
    e.bits = operation.has(".sat") ? saturated(bits, shape) : bits;
    if (operation.has(".sat")) e.steps.push_back({".sat", "clamped to between 0 and 1; no number gives 0"});
}

void say_product(Explained& e, const FloatParts& a, const FloatParts& b) {
    const Exact product = Exact::product(a, b);
    e.steps.push_back({"signs", fmt::format("{} times {} is {}", sign_word(a.negative), sign_word(b.negative),
                                            sign_word(product.negative))});
    if (product.zero()) {
        e.steps.push_back({"a factor is 0", "so the product is 0"});
        return;
    }
    e.steps.push_back(
        {"exponents add", fmt::format("{} + {} = {}", a.exponent(), b.exponent(), a.exponent() + b.exponent())});
    const bool carries = product.exponent() > a.exponent() + b.exponent();
    e.steps.push_back({"fractions multiply", fmt::format("{} × {} = {}", shown(a.lead()), shown(b.lead()),
                                                         shown(std::ldexp(product.lead(), carries ? 1 : 0)))});
    if (carries)
        e.steps.push_back({"2 or more", fmt::format("it is halved: {}, and the exponent is {}", shown(product.lead()),
                                                    product.exponent())});
}

// Two numbers are brought to the larger exponent and summed.
Exact say_sum(Explained& e, const Exact& a, const Exact& b, const Operation& operation) {
    Exact sum = a.plus(b);
    const bool both_zero = a.zero() && b.zero();
    if (sum.zero()) {
        // The sign of a sum that is nothing: of two zeros of one sign theirs, else + (− where one rounds down).
        sum.negative = both_zero && a.negative == b.negative ? a.negative : rounding_of(operation) == Rounding::down;
        e.steps.push_back(
            {both_zero ? "both are 0" : "they cancel", fmt::format("what is left is {}0", sign_word(sum.negative))});
        return sum;
    }
    if (a.zero() || b.zero()) {
        e.steps.push_back({"one is 0", "the sum is the other one"});
        return sum;
    }
    const Exact &large = a.exponent() >= b.exponent() ? a : b, &small = a.exponent() >= b.exponent() ? b : a;
    const int at = large.exponent(), apart = at - small.exponent();
    const double shifted = std::ldexp(small.lead(), -std::min(apart, 2000));
    if (apart > 0)
        e.steps.push_back({"to one exponent", fmt::format("{} × 2^{} is {} × 2^{}", shown(small.lead()), small.exponent(),
                                                          shown(shifted), at)});
    else
        e.steps.push_back({"one exponent", fmt::format("both have 2^{}", at)});
    const bool subtracts = a.negative != b.negative;
    const double left = a.exponent() >= b.exponent() ? large.lead() : shifted,
                 right = a.exponent() >= b.exponent() ? shifted : large.lead();
    const double total = std::ldexp(sum.lead(), std::clamp(sum.exponent() - at, -2000, 2000));
    const auto signed_text = [](bool negative, double x) { return (negative ? "−" : "") + shown(x); };
    e.steps.push_back({subtracts ? "fractions subtract" : "fractions add",
                       fmt::format("{} {} {} = {}", signed_text(a.negative, left), b.negative ? "−" : "+", shown(right),
                                   signed_text(sum.negative, total))});
    if (sum.exponent() != at)
        e.steps.push_back({sum.exponent() > at ? "2 or more" : "less than 1",
                           fmt::format("shifted: {} × 2^{}", shown(sum.lead()), sum.exponent())});
    return sum;
}

bool says_nothing_else(const Operation& operation, std::initializer_list<std::string_view> known) {
    return std::all_of(operation.modifiers.begin(), operation.modifiers.end(), [&](const std::string& m) {
        return ptx::type_named(m) != Type::none || std::find(known.begin(), known.end(), m) != known.end();
    });
}

// add, sub, mul, fma and mad: a, b and, of the last two, c.
Explained explain_float(const Operation& operation, std::span<const LaneValue> sources, const FloatShape& shape) {
    Explained e;
    const std::string& n = operation.name;
    const bool product = n == "mul" || n == "fma" || n == "mad", sum = n != "mul";
    if (sources.size() != (product && sum ? 3u : 2u)) return e;
    if (!says_nothing_else(operation, {".rn", ".rz", ".rm", ".rp", ".ftz", ".sat"})) return e;
    FloatParts p[3];
    bool flushes = false;
    for (size_t k = 0; k < sources.size(); ++k) {
        uint64_t bits = sources[k].bits;
        if (operation.has(".ftz") && flushed(bits, shape) != bits) bits = flushed(bits, shape), flushes = true;
        p[k] = parts_of(bits, shape);
    }
    if (flushes) e.steps.push_back({".ftz", "subnormal sources count as 0"});
    if (n == "sub") {
        p[1].negative = !p[1].negative;
        e.steps.push_back({"minus b", fmt::format("is plus {}b", sign_word(true))});
    }
    // Of doubles it is a source's own NaN: b's, then what is added's, then a's.
    for (const size_t k : {size_t{1}, size_t{2}, size_t{0}})
        if (k < sources.size() && p[k].nan)
            return special(e, operation, shape.nan_from(sources[k].bits, shape, false), shape, "no number",
                           "a source is NaN, so the result is"),
                   e;
    const auto infinity = [&](bool negative) { return shape.infinity() | (negative ? shape.sign() : 0); };
    bool endless = false, minus = false;  // the product, or a
    if (product) {
        if ((p[0].infinite && p[1].zero()) || (p[1].infinite && p[0].zero()))
            return special(e, operation, shape.nan(), shape, "infinity × 0", "is no number: NaN"), e;
        endless = p[0].infinite || p[1].infinite;
        minus = p[0].negative != p[1].negative;
    } else {
        endless = p[0].infinite;
        minus = p[0].negative;
    }
    if (sum) {
        const FloatParts& last = p[product ? 2 : 1];
        if (endless && last.infinite && last.negative != minus)
            return special(e, operation, shape.nan(), shape, "infinity − infinity", "is no number: NaN"), e;
        if (!endless && last.infinite) endless = true, minus = last.negative;
    }
    if (endless)
        return special(e, operation, infinity(minus), shape, "infinity", fmt::format("stays {}infinity", sign_word(minus))),
               e;
    e.known = true;
    Exact number = product ? Exact::product(p[0], p[1]) : Exact::of(p[0]);
    if (product) say_product(e, p[0], p[1]);
    if (sum) {
        const Exact last = Exact::of(p[product ? 2 : 1]);
        if (product && !number.zero()) e.steps.push_back({"the product", "goes on in full, not rounded"});
        number = say_sum(e, number, last, operation);
    }
    finish(e, operation, number, shape);
    return e;
}

// --- integers

int bits_in(Type type) {
    return std::clamp(width_of(type), 1, 64);
}
bool is_signed_type(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
uint64_t low_bits(uint64_t bits, int width) {
    return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}
wide_int integer_of(uint64_t bits, Type type) {
    const int width = bits_in(type);
    const wide_int value = static_cast<wide_int>(low_bits(bits, width));
    return is_signed_type(type) && (bits >> (width - 1) & 1) != 0 ? value - (static_cast<wide_int>(1) << width) : value;
}

std::string wide_text(wide_int value) {
    const bool negative = value < 0;
    wide_uint rest = negative ? static_cast<wide_uint>(0) - static_cast<wide_uint>(value) : static_cast<wide_uint>(value);
    std::string text;
    int digits = 0;
    do {
        if (digits > 0 && digits % 3 == 0) text += ',';
        text += static_cast<char>('0' + static_cast<int>(rest % 10));
        rest /= 10;
        ++digits;
    } while (rest != 0);
    if (negative) text += '-';
    std::reverse(text.begin(), text.end());
    return text;
}

void wrap(Explained& e, wide_int value, Type to) {
    e.known = true;
    e.bits = low_bits(static_cast<uint64_t>(static_cast<wide_uint>(value)), bits_in(to));
    const wide_int kept = integer_of(e.bits, to);
    if (kept == value)
        e.steps.push_back({"it fits", fmt::format("{} bits hold it", bits_in(to))});
    else
        e.steps.push_back({"it wraps", fmt::format("the low {} bits of it are {}", bits_in(to), wide_text(kept))});
}

void clamp_to(Explained& e, wide_int value, Type to) {
    const int width = bits_in(to);
    const wide_int most = (static_cast<wide_int>(1) << (is_signed_type(to) ? width - 1 : width)) - 1,
                   least = is_signed_type(to) ? -most - 1 : static_cast<wide_int>(0);
    const wide_int kept = std::clamp(value, least, most);
    e.known = true;
    e.bits = low_bits(static_cast<uint64_t>(static_cast<wide_uint>(kept)), width);
    e.steps.push_back({kept == value ? "it fits" : "clamped",
                       kept == value ? fmt::format("{} bits hold it", width) : fmt::format("to {}", wide_text(kept))});
}

Explained explain_sum(const Operation& operation, std::span<const LaneValue> s) {
    Explained e;
    if (s.size() != 2 || !says_nothing_else(operation, {".sat"})) return e;
    const bool minus = operation.name == "sub";
    const wide_int a = integer_of(s[0].bits, operation.type), b = integer_of(s[1].bits, operation.type),
                   sum = minus ? a - b : a + b;
    e.steps.push_back({minus ? "subtracted" : "added",
                       fmt::format("{} {} {} = {}", wide_text(a), minus ? "−" : "+", wide_text(b), wide_text(sum))});
    if (!minus) {
        const uint64_t x = low_bits(s[0].bits, bits_in(operation.type)), y = low_bits(s[1].bits, bits_in(operation.type));
        const int carries = std::popcount(low_bits((x + y) ^ x ^ y, bits_in(operation.type)));
        e.steps.push_back({"carries", carries == 0 ? "none: no place has two ones"
                                                   : fmt::format("into {} of {} places", carries, bits_in(operation.type))});
    }
    if (operation.has(".sat"))
        clamp_to(e, sum, operation.type);
    else
        wrap(e, sum, operation.type);
    return e;
}

Explained explain_product(const Operation& operation, std::span<const LaneValue> s) {
    Explained e;
    const bool adds = operation.name == "mad";
    if (s.size() != (adds ? 3u : 2u) || !says_nothing_else(operation, {".lo", ".hi", ".wide"})) return e;
    const int width = bits_in(operation.type);
    const wide_int a = integer_of(s[0].bits, operation.type), b = integer_of(s[1].bits, operation.type);
    const bool wide = operation.has(".wide"), high = operation.has(".hi");
    // The product of two numbers of 64 bits without a sign fills all 128 bits.
    const wide_uint full = static_cast<wide_uint>(a) * static_cast<wide_uint>(b);
    const bool as_unsigned = !is_signed_type(operation.type);
    const std::string product = as_unsigned && width == 64 && static_cast<wide_int>(full) < 0
                                    ? fmt::format("{:.10g}…", static_cast<double>(full))
                                    : wide_text(static_cast<wide_int>(full));
    e.steps.push_back({"multiplied", fmt::format("{} × {} = {}", wide_text(a), wide_text(b), product)});
    wide_int part = static_cast<wide_int>(full);
    if (high) {
        part = as_unsigned ? static_cast<wide_int>(full >> width) : static_cast<wide_int>(full) >> width;
        e.steps.push_back({"the high half", fmt::format("divided by 2^{}: {}", width, wide_text(part))});
    } else if (wide) {
        e.steps.push_back({"twice as wide", fmt::format("{} bits hold any product", 2 * width)});
    } else {
        const uint64_t low = low_bits(static_cast<uint64_t>(full), width);
        part = integer_of(low, operation.type);
        e.steps.push_back({"the low half", part == static_cast<wide_int>(full)
                                               ? fmt::format("{} bits hold it", width)
                                               : fmt::format("its low {} bits are {}", width, wide_text(part))});
    }
    const Type to = wide ? operation.to : operation.type;
    if (!adds) {
        e.known = true;
        e.bits = low_bits(static_cast<uint64_t>(static_cast<wide_uint>(part)), bits_in(to));
        return e;
    }
    const wide_int c = integer_of(s[2].bits, to);
    e.steps.push_back({"c is added", fmt::format("{} + {} = {}", wide_text(part), wide_text(c), wide_text(part + c))});
    wrap(e, part + c, to);
    return e;
}

Explained explain_logic(const Operation& operation, std::span<const LaneValue> s) {
    Explained e;
    const std::string& n = operation.name;
    if (s.size() != (n == "not" ? 1u : 2u) || !says_nothing_else(operation, {".pred"})) return e;
    const int width = operation.type == Type::pred || operation.has(".pred") ? 1 : bits_in(operation.type);
    const uint64_t a = low_bits(s[0].bits, width), b = n == "not" ? 0 : low_bits(s[1].bits, width);
    const uint64_t d = n == "and" ? a & b : n == "or" ? a | b : n == "xor" ? a ^ b : low_bits(~a, width);
    e.known = true;
    e.bits = d;
    const std::string_view rule = n == "and"   ? "1 where both are 1"
                                  : n == "or"  ? "1 where one of them is 1"
                                  : n == "xor" ? "1 where they differ"
                                               : "1 where it is 0";
    e.steps.push_back({"place by place", std::string(rule)});
    if (n == "not")
        e.steps.push_back({"ones", fmt::format("{} become {}", std::popcount(a), std::popcount(d))});
    else
        e.steps.push_back({"ones", fmt::format("{} and {} give {}", std::popcount(a), std::popcount(b), std::popcount(d))});
    return e;
}

Explained explain_shift(const Operation& operation, std::span<const LaneValue> s) {
    Explained e;
    if (s.size() != 2 || !says_nothing_else(operation, {})) return e;
    const int width = bits_in(operation.type);
    const uint64_t a = low_bits(s[0].bits, width), by = low_bits(s[1].bits, 32);
    const bool left = operation.name == "shl", arithmetic = !left && is_signed_type(operation.type);
    const int places = static_cast<int>(std::min<uint64_t>(by, static_cast<uint64_t>(width)));
    const wide_int value = integer_of(a, arithmetic    ? operation.type
                                         : width == 16 ? Type::u16
                                         : width == 32 ? Type::u32
                                                       : Type::u64);
    const wide_uint moved = left ? static_cast<wide_uint>(a) << places : static_cast<wide_uint>(value >> places);
    e.known = true;
    e.bits = low_bits(static_cast<uint64_t>(moved), width);
    e.steps.push_back({left ? "moved up" : "moved down",
                       fmt::format("{}: {} 2^{}", counted(places, "place"), left ? "times" : "divided by", places)});
    if (static_cast<uint64_t>(places) != by) e.steps.push_back({"beyond", fmt::format("{} counts as {}", by, places)});
    const uint64_t lost = left ? (places == 0 ? 0 : places >= width ? a : a >> (width - places)) : low_bits(a, places);
    e.steps.push_back({"what falls out", lost == 0 ? "no ones" : counted(std::popcount(lost), "one")});
    e.steps.push_back({"what comes in", arithmetic && value < 0 ? "ones: the sign stays" : "zeros"});
    return e;
}

Explained explain_choice(const Operation& operation, std::span<const LaneValue> s) {  // min, max of integers
    Explained e;
    if (s.size() != 2 || !says_nothing_else(operation, {}) || float_shape(operation.type) ||
        ptx::size_of(operation.type) == 0 || operation.type == Type::u16x2 || operation.type == Type::s16x2 ||
        operation.type == Type::f16x2 || operation.type == Type::bf16x2)
        return e;
    const wide_int a = integer_of(s[0].bits, operation.type), b = integer_of(s[1].bits, operation.type);
    const bool first = operation.name == "min" ? a <= b : a >= b;
    e.known = true;
    e.bits = low_bits(first ? s[0].bits : s[1].bits, bits_in(operation.type));
    e.steps.push_back({"compared", fmt::format("{} {} {}", wide_text(a), a < b ? "<" : a == b ? "=" : ">", wide_text(b))});
    e.steps.push_back({"kept", first ? "the first" : "the second"});
    return e;
}

// --- comparisons and conversions

Explained explain_compare(const Operation& operation, std::span<const LaneValue> s) {
    Explained e;
    if (s.size() != 2 || operation.has(".and") || operation.has(".or") || operation.has(".xor")) return e;
    if (operation.type == Type::f16x2 || operation.type == Type::bf16x2) return e;
    unsigned outcome = 0;  // less, equal, greater, unordered
    std::string a_text, b_text;
    if (const auto shape = float_shape(operation.type)) {
        FloatParts a = parts_of(s[0].bits, *shape), b = parts_of(s[1].bits, *shape);
        if (operation.has(".ftz")) {
            if (a.subnormal) a.significand = 0;
            if (b.subnormal) b.significand = 0;
        }
        const auto size = [](const FloatParts& p) {
            return p.infinite ? INFINITY : std::ldexp(static_cast<double>(p.significand), p.unit);
        };
        const double x = a.negative ? -size(a) : size(a), y = b.negative ? -size(b) : size(b);
        outcome = a.nan || b.nan ? 3 : x < y ? 0 : x == y ? 1 : 2;
    } else {
        const wide_int a = integer_of(s[0].bits, operation.type), b = integer_of(s[1].bits, operation.type);
        outcome = a < b ? 0 : a == b ? 1 : 2;
    }
    a_text = number_text(s[0].bits, operation.type), b_text = number_text(s[1].bits, operation.type);
    for (const ptx::Comparison& c : ptx::comparisons) {
        if (!operation.has(c.name)) continue;
        e.known = true;
        e.bits = c.outcomes >> outcome & 1;
        static constexpr std::string_view words[] = {"is less than", "equals", "is greater than", "cannot be compared with"};
        e.steps.push_back({"compared", fmt::format("{} {} {}", a_text, words[outcome], b_text)});
        e.steps.push_back({"so it is", e.bits != 0 ? "true" : "false"});
        return e;
    }
    return e;
}

// A float without what lies behind its point.
void to_integer(Explained& e, const Operation& operation, const FloatParts& p) {
    const int width = bits_in(operation.to);
    if (p.nan) {
        e.known = true;
        e.bits = width == 64 || operation.type == Type::f64 ? uint64_t{1} << (width - 1) : 0;
        e.steps.push_back({"no number", fmt::format("gives {} here", wide_text(integer_of(e.bits, operation.to)))});
        return;
    }
    const bool huge = p.infinite || (p.significand != 0 && p.exponent() > 65);
    wide_int value = static_cast<wide_int>(1) << 66;
    if (!huge) {
        const Exact number = Exact::of(p);
        const bool half = (number.bits_from(-1) & 1) != 0, less = number.any_below(-1);
        value = static_cast<wide_int>((static_cast<wide_uint>(number.bits_from(32)) << 32) |
                                      (number.bits_from(0) & 0xffffffffu));
        const bool odd = (value & 1) != 0;
        const bool away = operation.has(".rni")   ? half && (less || odd)
                          : operation.has(".rmi") ? p.negative && (half || less)
                          : operation.has(".rpi") ? !p.negative && (half || less)
                                                  : false;
        value += away ? 1 : 0;
        e.steps.push_back(
            {"to a whole number", half || less ? fmt::format("{} is left behind the point: {}", shown(number.share_below(0)),
                                                             away ? "away from 0" : "cut off")
                                               : std::string("it is one")});
    } else {
        e.steps.push_back({"too large", "for any integer"});
    }
    clamp_to(e, p.negative ? -value : value, operation.to);
}

Explained explain_convert(const Operation& operation, std::span<const LaneValue> s) {
    Explained e;
    const auto from = float_shape(operation.type), to = float_shape(operation.to);
    const bool known =
        says_nothing_else(operation, {".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi", ".ftz", ".sat"});
    const bool odd_types = (!from && ptx::size_of(operation.type) == 0) || (!to && ptx::size_of(operation.to) == 0) ||
                           operation.to == Type::tf32;
    const auto is_plain = [](Type t) { return float_shape(t) || (t >= Type::u8 && t <= Type::s64); };
    if (s.size() != 1 || !known || odd_types || !is_plain(operation.type) || !is_plain(operation.to)) return e;
    if (!from && !to) {
        const wide_int a = integer_of(s[0].bits, operation.type);
        e.steps.push_back({"the number", wide_text(a)});
        if (operation.has(".sat"))
            clamp_to(e, a, operation.to);
        else
            wrap(e, a, operation.to);
        return e;
    }
    if (!from) {
        const wide_int a = integer_of(s[0].bits, operation.type);
        Exact number = Exact::of_integer(a < 0, static_cast<uint64_t>(a < 0 ? -a : a));
        e.known = true;
        if (number.zero())
            e.steps.push_back({"0", "has no exponent: all bits are 0"});
        else
            e.steps.push_back({"leading one", fmt::format("in place {}: {}{} × 2^{}", number.exponent(), a < 0 ? "−" : "",
                                                          shown(number.lead()), number.exponent())});
        finish(e, operation, number, *to);
        return e;
    }
    uint64_t bits = s[0].bits;
    if (operation.has(".ftz") && operation.type == Type::f32) bits = flushed(bits, *from);
    const FloatParts p = parts_of(bits, *from);
    if (!to) {
        to_integer(e, operation, p);
        return e;
    }
    const bool whole = operation.has(".rni") || operation.has(".rzi") || operation.has(".rmi") || operation.has(".rpi");
    if (whole) return e;
    if (p.nan)
        return special(e, operation, to->nan_from(bits, *from, operation.has(".ftz")), *to, "no number", "stays NaN"), e;
    if (p.infinite)
        return special(e, operation, to->infinity() | (p.negative ? to->sign() : 0), *to, "infinity", "stays infinity"), e;
    e.known = true;
    if (p.zero())
        e.steps.push_back({"0", fmt::format("stays {}0", sign_word(p.negative))});
    else
        e.steps.push_back({"the number", fmt::format("{} {} × 2^{}", sign_word(p.negative), shown(p.lead()), p.exponent())});
    finish(e, operation, Exact::of(p), *to);
    return e;
}

}  // namespace

Explained explain(const Operation& operation, std::span<const LaneValue> sources) {
    const std::string& n = operation.name;
    if (n == "cvt") return explain_convert(operation, sources);
    if (n == "setp") return explain_compare(operation, sources);
    const bool sums = n == "add" || n == "sub", products = n == "mul" || n == "fma" || n == "mad";
    if (const auto shape = float_shape(operation.type))
        return sums || products ? explain_float(operation, sources, *shape) : Explained{};
    const bool whole = operation.type >= Type::b8 && operation.type <= Type::s64;
    if (n == "and" || n == "or" || n == "xor" || n == "not")
        return whole || operation.type == Type::pred ? explain_logic(operation, sources) : Explained{};
    if (!whole) return {};
    if (sums) return explain_sum(operation, sources);
    if (n == "mul" || n == "mad") return explain_product(operation, sources);
    if (n == "shl" || n == "shr") return explain_shift(operation, sources);
    if (n == "min" || n == "max") return explain_choice(operation, sources);
    return {};
}

}  // namespace lockstep::gui
