// Every conversion of the opcode table, in registers of their types' sizes and in wider ones. A number is taken as an exact
// integer of thousands of bits; rounding picks its neighbour among the encodings of the result's type by bisection.
#include "tests/ptx/exact.h"
#include "tests/ptx/opcode_support.h"

namespace ptx_every_conversion_test {

using namespace opcode_test;
using exact::Number;
using exact::Rounding;

namespace {

const exact::Format* format_of(Type t) {
    switch (t) {
        case Type::f16:
        case Type::f16x2:
            return &exact::f16;
        case Type::bf16:
        case Type::bf16x2:
            return &exact::bf16;
        case Type::f32:
            return &exact::f32;
        case Type::f64:
            return &exact::f64;
        case Type::tf32:
            return &exact::tf32;
        case Type::e4m3x2:
            return &exact::e4m3;
        case Type::e5m2x2:
            return &exact::e5m2;
        default:
            return nullptr;
    }
}
Rounding rounding_of(const Instruction& i) {
    return i.has(".rz")    ? Rounding::zero
           : i.has(".rm")  ? Rounding::down
           : i.has(".rp")  ? Rounding::up
           : i.has(".rna") ? Rounding::away
                           : Rounding::nearest;
}
std::optional<Rounding> integral_of(const Instruction& i) {
    if (i.has(".rni")) return Rounding::nearest;
    if (i.has(".rzi")) return Rounding::zero;
    if (i.has(".rmi")) return Rounding::down;
    if (i.has(".rpi")) return Rounding::up;
    return {};
}
uint64_t nan_of(Type t) {
    return t == Type::f64                           ? 0xfff8000000000000ull
           : t == Type::f32 || t == Type::tf32      ? 0x7fffffffu
           : t == Type::e4m3x2 || t == Type::e5m2x2 ? 0x7fu
                                                    : 0x7fffu;
}

// What a NaN becomes where it was measured on an H200; else nan_of.
std::optional<uint64_t> measured_nan(const Instruction& i, Type to, Type from, uint64_t bits) {
    const exact::Format *out = format_of(to), *in = format_of(from);
    if (!out || !in || i.has(".sat")) return {};
    bits = in->width == 64 ? bits : bits & ((1ull << in->width) - 1);
    if (!in->nan(bits)) return {};
    if (to == Type::tf32) return i.has(".rna") ? (bits + 0x1000) & 0xffffe000 : 0x7fffe000;
    if (to == from && out->width >= 32 && !integral_of(i) && !i.has(".ftz") && !i.has(".rn") && !i.has(".rz") &&
        !i.has(".rm") && !i.has(".rp"))
        return bits;
    if (to != Type::f64 && from != Type::f64) return {};
    if (to == Type::f64 && i.has(".ftz")) return 0x7fffffffe0000000;
    const uint64_t payload = bits & ((1ull << in->fraction) - 1), quiet = 1ull << (out->fraction - 1);
    const int up = out->fraction - in->fraction;
    return ((bits & in->sign()) != 0 ? out->sign() : 0) | out->infinity() | quiet |
           (up > 0 ? payload << up : payload >> -up);
}

struct Value {
    bool nan = false, infinite = false, negative = false;
    Number number;
    double approximate = 0;  // of a float: exactly
};
Value value_of(const Instruction& i, Type t, uint64_t bits) {
    const exact::Format* format = format_of(t);
    if (!format) {
        const wide n = number(bits, t);
        return {.negative = n < 0, .number = Number::scaled(static_cast<uint64_t>(n < 0 ? -n : n), 0, n < 0)};
    }
    bits = format->width == 64 ? bits : bits & ((1ull << format->width) - 1);
    if (i.has(".ftz") && i.first != Type::f16 && t == Type::f32 && !(bits & 0x7f800000u)) bits &= 0x80000000u;
    Value v{.nan = format->nan(bits),
            .infinite = format->infinite(bits),
            .negative = (bits & format->sign()) != 0,
            .number = {}};
    if (v.nan || v.infinite) return v;
    v.number = Number::of(*format, bits);
    const uint64_t unsigned_bits = bits & (format->sign() - 1), e = unsigned_bits >> format->fraction;
    const uint64_t m = unsigned_bits & ((1ull << format->fraction) - 1);
    v.approximate = std::ldexp(static_cast<double>(e ? m | 1ull << format->fraction : m),
                               static_cast<int>(e ? e : 1) - format->bias() - format->fraction);
    if (v.negative) v.approximate = -v.approximate;
    return v;
}
double whole(double x, Rounding rounding) {
    return rounding == Rounding::nearest ? std::nearbyint(x)
           : rounding == Rounding::zero  ? std::trunc(x)
           : rounding == Rounding::down  ? std::floor(x)
                                         : std::ceil(x);
}

uint64_t to_float(const Instruction& i, Type to, Value v) {
    const exact::Format& format = *format_of(to);
    const bool finite = i.has(".satfinite"), relu = i.has(".relu"), sat = i.has(".sat");
    if (v.nan) return sat ? 0 : nan_of(to);
    if ((relu || sat) && v.negative) return 0;
    if (const auto integral = integral_of(i); integral && !v.infinite)
        v.number = Number::of(exact::f64, __builtin_bit_cast(uint64_t, whole(v.approximate, *integral)));
    uint64_t bits = v.infinite ? format.infinity() | (v.negative ? format.sign() : 0)
                               : exact::round_to(format, v.number, rounding_of(i), v.negative);
    if (finite && (bits & (format.sign() - 1)) > format.largest()) bits = (bits & format.sign()) | format.largest();
    if (finite && v.infinite) bits = (v.negative ? format.sign() : 0) | format.largest();
    if (i.has(".ftz") && to == Type::f32 && !(bits & 0x7f800000u)) bits &= 0x80000000u;
    const uint64_t one = static_cast<uint64_t>(format.bias()) << format.fraction;
    if (sat) return std::min(bits, one);
    return to == Type::tf32 ? bits << 13 : bits;
}
uint64_t to_integer(const Instruction& i, Type to, Type from, const Value& v) {
    const int width = static_cast<int>(8 * size_of(to));
    const wide most = (static_cast<wide>(1) << (width - signed_type(to))) - 1, least = signed_type(to) ? -most - 1 : 0;
    if (v.nan) return from == Type::f64 || width == 64 ? static_cast<uint64_t>(number(1ull << (width - 1), to)) : 0;
    if (v.infinite) return static_cast<uint64_t>(v.negative ? least : most);
    const double r = whole(v.approximate, integral_of(i).value_or(Rounding::zero));
    const wide n = r >= 0x1p100 ? most : r <= -0x1p100 ? least : static_cast<wide>(r);
    return static_cast<uint64_t>(std::min(std::max(n, least), most));
}

std::optional<Expected> packed(const Instruction& i, const Arguments& x) {
    const int width = i.has(".u16") || i.has(".s16") ? 16
                      : i.has(".u8") || i.has(".s8") ? 8
                      : i.has(".u4") || i.has(".s4") ? 4
                                                     : 2;
    const bool is_signed = i.modifiers.find(".sat.s") != std::string::npos;
    const int64_t span = 1ll << width, least = is_signed ? -span / 2 : 0, most = least + span - 1;
    const auto part = [&](uint64_t word) {
        const int64_t v = std::clamp<int64_t>(static_cast<int32_t>(word), least, most);
        return static_cast<uint64_t>(v < 0 ? v + span : v);
    };
    const uint64_t c = width == 16 ? 0 : x[2];
    return Expected{.bits = part(x[1]) + part(x[0]) * static_cast<uint64_t>(span) + c * static_cast<uint64_t>(span * span)};
}

std::optional<Expected> definition(const Instruction& i, const Arguments& x) {
    if (i.has(".pack")) return packed(i, x);
    const Type to = i.first, from = i.last;
    const bool bytes_to = to == Type::e4m3x2 || to == Type::e5m2x2,
               bytes_from = from == Type::e4m3x2 || from == Type::e5m2x2;
    if (to == Type::f16x2 || to == Type::bf16x2 || bytes_to) {
        const int width = bytes_to ? 8 : 16, step = bytes_from ? 8 : 16;
        const bool two = i.operands.size() == 3;  // b is the lower one
        const uint64_t lower = two ? x[1] : x[0], upper = two ? x[0] : x[0] >> step;
        const uint64_t a = to_float(i, to, value_of(i, from, lower)), b = to_float(i, to, value_of(i, from, upper));
        return Expected{.bits = a | b << width};
    }
    if (!format_of(to) && !format_of(from)) {
        wide v = number(x[0], from);
        const wide most = (static_cast<wide>(1) << (8 * static_cast<int>(size_of(to)) - signed_type(to))) - 1;
        if (i.has(".sat")) v = std::min(std::max(v, signed_type(to) ? -most - 1 : static_cast<wide>(0)), most);
        return Expected{.bits = static_cast<uint64_t>(number(static_cast<uint64_t>(v), to))};
    }
    if (const auto nan = measured_nan(i, to, from, x[0])) return Expected{.bits = *nan};
    const Value v = value_of(i, from, x[0]);
    return Expected{.bits = format_of(to) ? to_float(i, to, v) : to_integer(i, to, from, v)};
}

}  // namespace

TEST_CASE("every conversion gives the neighbour of the exact value that its rounding asks for") {
    walk({"convert"}, definition, 700);
}

}  // namespace ptx_every_conversion_test
