// Walks the opcode table. Every lane function against a plain scalar reference written here, in another way than the
// table's: integers in 128 bits, directed rounding by the FPU's own rounding modes, transcendental functions by libm with
// the error that the ISA allows. And every copy of the table against the portable one, bit by bit.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/base/dtype.h"
#include "core/base/rng.h"
#include "core/ptx/opcode.h"
#include "core/ptx/spelling.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::ptx;

namespace {

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_unsigned;

size_t lane_bytes(Type t) {
    return t == Type::pred ? 0 : std::max<size_t>(size_of(t), 2);
}
bool is_signed(Type t) {
    return name_of(t)[0] == 's';
}
bool is_float(Type t) {
    return name_of(t)[0] == 'f' || t == Type::bf16;
}
Type doubled(Type t) {
    return t == Type::u16 ? Type::u32 : t == Type::s16 ? Type::s32 : t == Type::u32 ? Type::u64 : Type::s64;
}

wide number(uint64_t bits, Type t) {
    const int width = t == Type::pred ? 1 : static_cast<int>(8 * size_of(t));
    const wide value = static_cast<wide>(width == 64 ? bits : bits & ((1ull << width) - 1));
    return is_signed(t) && (value >> (width - 1) & 1) ? value - (static_cast<wide>(1) << width) : value;
}
float f(uint64_t bits) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits));
}
double d(uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}
uint64_t of(float x) {
    return std::isnan(x) ? 0x7fffffffu : __builtin_bit_cast(uint32_t, x);
}
uint64_t of(double x) {
    return std::isnan(x) ? 0xfff8000000000000ull : __builtin_bit_cast(uint64_t, x);
}
float flushed(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

// Every spelling of a form: all choices, with and without what may be left out (at most 600 a form).
std::vector<std::string> spellings(std::string_view pattern) {
    std::vector<std::string> all{""};
    while (!pattern.empty()) {
        const char open = pattern[0];
        const size_t end = open == '(' ? pattern.find(')') : open == '{' ? pattern.find('}') : pattern.find_first_of("({");
        std::string group(pattern.substr(0, end));
        pattern.remove_prefix(std::min(pattern.size(), open == '(' || open == '{' ? end + 1 : group.size()));
        std::vector<std::string> choices;
        if (open == '{') choices.push_back("");
        if (open == '(' || open == '{') {
            group.erase(0, 1);
            for (size_t at = 0; at <= group.size();) {
                const size_t bar = std::min(group.find('|', at), group.size());
                choices.push_back(group.substr(at, bar - at));
                at = bar + 1;
            }
        } else {
            choices.push_back(group);
        }
        std::vector<std::string> longer;
        for (const auto& a : all)
            for (const auto& b : choices) longer.push_back(a + b);
        all = std::move(longer);
    }
    return all;
}

struct Instruction {
    std::string name, modifiers;
    Type first = Type::none, last = Type::none;
    bool has(const std::string& m) const { return (modifiers + ".").find(m + ".") != std::string::npos; }
};

Instruction instruction_of(const Opcode& row, const std::string& modifiers) {
    Instruction i{std::string(row.name), modifiers};
    for (std::string_view m : modifiers_of(modifiers))
        if (const Type t = type_named(m); t != Type::none) {
            if (i.first == Type::none) i.first = t;
            i.last = t;
        }
    return i;
}

Type operand_type(char c, const Instruction& i) {
    switch (c) {
        case 'D':
            return i.first;
        case 'W':
            return doubled(i.last);
        case 'P':
        case 'p':
            return Type::pred;
        case 'U':
            return Type::u32;
        case 'A':
            return Type::u64;
        default:
            return i.last;
    }
}

// --- the reference: bits of the result, or a float with a tolerance -------------------------------------------------------

struct Expected {
    uint64_t bits = 0;
    double value = 0, absolute = 0, relative = 0;  // compared as a float when a tolerance is given
};
using Arguments = std::array<uint64_t, 4>;

template <class Operation>
auto rounded(const Instruction& i, Operation operation) {
    std::fesetround(i.has(".rz") ? FE_TOWARDZERO : i.has(".rm") ? FE_DOWNWARD : i.has(".rp") ? FE_UPWARD : FE_TONEAREST);
    const volatile auto result = operation();  // stored before the mode changes back
    std::fesetround(FE_TONEAREST);
    return result;
}

bool compares(const Instruction& i, auto a, auto b) {
    const bool nan = a != a || b != b;
    for (const auto& [word, value] : std::map<std::string, bool>{{".eq", a == b},
                                                                 {".ne", !nan && a != b},
                                                                 {".lt", a < b},
                                                                 {".le", a <= b},
                                                                 {".gt", a > b},
                                                                 {".ge", a >= b},
                                                                 {".lo", a < b},
                                                                 {".ls", a <= b},
                                                                 {".hi", a > b},
                                                                 {".hs", a >= b},
                                                                 {".equ", nan || a == b},
                                                                 {".neu", nan || a != b},
                                                                 {".ltu", nan || a < b},
                                                                 {".leu", nan || a <= b},
                                                                 {".gtu", nan || a > b},
                                                                 {".geu", nan || a >= b},
                                                                 {".num", !nan},
                                                                 {".nan", nan}})
        if (i.has(word)) return value;
    throw std::runtime_error("no comparison");
}

std::optional<Expected> integer_reference(const Instruction& i, const Arguments& x) {
    const Type t = i.last;
    const int width = static_cast<int>(8 * size_of(t));
    const wide a = number(x[0], t), b = number(x[1], t), c = number(x[2], t);
    const wide ones = (static_cast<wide>(1) << width) - 1;
    const uint32_t amount = static_cast<uint32_t>(x[1]);
    const auto give = [](wide value) { return Expected{static_cast<uint64_t>(value)}; };
    const std::string& n = i.name;
    const auto clamp = [&](wide v) {
        return i.has(".sat")
                   ? std::min<wide>(std::max<wide>(v, -(static_cast<wide>(1) << 31)), (static_cast<wide>(1) << 31) - 1)
                   : v;
    };
    if (n == "add") return give(clamp(a + b));
    if (n == "sub") return give(clamp(a - b));
    if (n == "mul" || n == "mad") {
        const wide_unsigned product = static_cast<wide_unsigned>(a) * static_cast<wide_unsigned>(b);
        if (i.has(".wide")) return give(static_cast<wide>(product + (n == "mad" ? x[2] : 0)));
        const wide part = i.has(".hi")
                              ? (is_signed(t) ? static_cast<wide>(product) >> width : static_cast<wide>(product >> width))
                              : static_cast<wide>(product);
        return give(part + (n == "mad" ? c : 0));
    }
    if (n == "mul24") {
        const auto low = [&](wide v) {
            const wide u = v & 0xffffff;
            return is_signed(t) && u >> 23 ? u - (1 << 24) : u;
        };
        return give(low(a) * low(b));
    }
    if (n == "div") return give(b == 0 ? ones : a / b);
    if (n == "rem") return give(b == 0 ? a : a % b);
    if (n == "min") return give(a < b ? a : b);
    if (n == "max") return give(a > b ? a : b);
    if (n == "neg") return give(-a);
    if (n == "abs") return give(a < 0 ? -a : a);
    if (n == "sad") return give(c + (a > b ? a - b : b - a));
    if (n == "and") return give(a & b);
    if (n == "or") return give(a | b);
    if (n == "xor") return give(a ^ b);
    if (n == "not") return give(~a);
    if (n == "cnot") return give(a == 0);
    if (n == "shl") return give(amount >= static_cast<uint32_t>(width) ? 0 : a << amount);
    if (n == "shr") return give(a >> std::min<uint32_t>(amount, 100));
    if (n == "shf") {
        const uint64_t both = x[1] << 32 | x[0];
        const uint32_t by = static_cast<uint32_t>(i.has(".wrap") ? x[2] & 31 : std::min<uint64_t>(x[2], 32));
        return give(i.has(".l") ? static_cast<wide>((static_cast<wide_unsigned>(both) << by) >> 32)
                                : static_cast<wide>(both >> by));
    }
    if (n == "bfe") {
        const int at = x[1] & 255, count = x[2] & 255;
        wide result = 0;
        const int top = std::min(at + count - 1, width - 1);
        const wide sign = is_signed(t) && count ? (a >> top & 1) : 0;
        for (int k = 0; k < width; ++k) result |= (k < count && at + k < width ? (a >> (at + k) & 1) : sign) << k;
        return give(count ? result : 0);
    }
    if (n == "bfi") {
        const int at = x[2] & 255, count = x[3] & 255;
        wide result = b;
        for (int k = 0; k < count && at + k < width; ++k)
            result = (result & ~(static_cast<wide>(1) << (at + k))) | (a >> k & 1) << (at + k);
        return give(result);
    }
    if (n == "bmsk") {
        wide result = 0;
        const uint32_t at = i.has(".wrap") ? x[0] & 31 : static_cast<uint32_t>(x[0]),
                       count = i.has(".wrap") ? x[1] & 31 : static_cast<uint32_t>(x[1]);
        for (uint32_t k = 0; k < 32; ++k) result |= static_cast<wide>(k >= at && k - at < count) << k;
        return give(result);
    }
    const auto bit = [&](const wide& v, int k) { return static_cast<int>(v >> k & 1); };
    if (n == "clz" || n == "popc" || n == "brev" || n == "bfind") {
        int zeros = 0, count = 0;
        wide reversed = 0;
        const wide v = n == "bfind" && a < 0 ? ~a : a;
        while (zeros < width && !bit(v, width - 1 - zeros)) ++zeros;
        for (int k = 0; k < width; ++k) count += bit(v, k), reversed |= static_cast<wide>(bit(v, k)) << (width - 1 - k);
        if (n == "bfind") return give(zeros == width ? 0xffffffff : i.has(".shiftamt") ? zeros : width - 1 - zeros);
        return give(n == "clz" ? zeros : n == "popc" ? count : reversed);
    }
    if (n == "prmt") {
        uint64_t result = 0;
        for (int k = 0; k < 4; ++k) {
            const int pick = static_cast<int>(x[2] >> 4 * k & 15);
            const uint64_t byte = (x[1] << 32 | x[0]) >> 8 * (pick & 7) & 255;
            result |= (pick < 8 ? byte : byte >> 7 ? 255 : 0) << 8 * k;
        }
        return Expected{result};
    }
    if (n == "lop3") {
        uint64_t result = 0;
        for (int k = 0; k < 32; ++k) result |= (x[3] >> (4 * bit(a, k) + 2 * bit(b, k) + bit(c, k)) & 1) << k;
        return Expected{result};
    }
    if (n == "dp4a") {
        wide sum = c;
        for (int k = 0; k < 4; ++k)
            sum += number(x[0] >> 8 * k, i.first == Type::s32 ? Type::s8 : Type::u8) *
                   number(x[1] >> 8 * k, t == Type::s32 ? Type::s8 : Type::u8);
        return give(sum);
    }
    if (n == "setp") return give(compares(i, a, b));
    if (n == "selp") return give(x[2] ? a : b);
    if (n == "slct")
        return give(t == Type::f32 ? (f(x[2]) >= 0 ? x[0] : x[1]) : (static_cast<int32_t>(x[2]) >= 0 ? x[0] : x[1]));
    if (n == "mov") return give(a);
    return {};
}

std::optional<Expected> float_reference(const Instruction& i, const Arguments& x) {
    const std::string& n = i.name;
    const bool ftz = i.has(".ftz"), sat = i.has(".sat");
    if (i.last == Type::f16 || i.last == Type::bf16) {
        const auto in = [&](uint64_t bits) {
            return i.last == Type::f16 ? f16_to_f32(static_cast<uint16_t>(bits)) : bf16_to_f32(static_cast<uint16_t>(bits));
        };
        const auto out = [&](float v) {
            if (sat) v = v > 0 ? std::min(v, 1.0f) : 0.0f;
            return Expected{std::isnan(v) ? 0x7fffu : i.last == Type::f16 ? f32_to_f16(v) : f32_to_bf16(v)};
        };
        const float a = in(x[0]), b = in(x[1]), c = in(x[2]);
        if (n == "add") return out(a + b);
        if (n == "sub") return out(a - b);
        if (n == "mul") return out(a * b);
        if (n == "neg") return Expected{x[0] ^ 0x8000};
        if (n == "abs") return Expected{x[0] & 0x7fff};
        if (n == "setp") return Expected{compares(i, a, b)};
        if (n == "min")
            return out(std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b));
        if (n == "max")
            return out(std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b));
        if (n == "ex2") return out(std::exp2(a));
        if (n == "tanh") return out(std::tanh(a));
        if (n == "fma" && i.last == Type::bf16) return out(std::fma(a, b, c));
        if (n == "fma") {  // where the sum is exact in double; elsewhere the nearest float is not enough
            const double s = static_cast<double>(a) * b + c;
            const long double exact = static_cast<long double>(a) * b + c;
            if (s == exact && static_cast<double>(static_cast<float>(s)) == s) return out(static_cast<float>(s));
        }
        return {};
    }
    if (i.last == Type::f64) {
        const double a = d(x[0]), b = d(x[1]), c = d(x[2]);
        if (n == "add") return Expected{of(a + b)};
        if (n == "sub") return Expected{of(a - b)};
        if (n == "mul") return Expected{of(a * b)};
        if (n == "div") return Expected{of(a / b)};
        if (n == "fma" || n == "mad") return Expected{of(std::fma(a, b, c))};
        if (n == "neg") return Expected{x[0] ^ 1ull << 63};
        if (n == "abs") return Expected{x[0] & ~(1ull << 63)};
        if (n == "copysign") return Expected{(x[0] & 1ull << 63) | (x[1] & ~(1ull << 63))};
        if (n == "rcp") return Expected{of(1.0 / a)};
        if (n == "sqrt") return Expected{of(std::sqrt(a))};
        if (n == "rsqrt") return Expected{of(1.0 / std::sqrt(a))};
        if (n == "setp") return Expected{compares(i, a, b)};
        if (n == "min") return Expected{of(a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b))};
        if (n == "max") return Expected{of(a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b))};
        if (n == "testp") {
            const int kind = std::fpclassify(a);
            return Expected{i.has(".finite")       ? std::isfinite(a)
                            : i.has(".infinite")   ? std::isinf(a)
                            : i.has(".number")     ? !std::isnan(a)
                            : i.has(".notanumber") ? std::isnan(a)
                            : i.has(".normal")     ? kind == FP_NORMAL
                                                   : kind == FP_SUBNORMAL};
        }
        return {};
    }
    if (i.last != Type::f32) return {};
    const auto in = [&](uint64_t bits) { return ftz ? flushed(f(bits)) : f(bits); };
    const float a = in(x[0]), b = in(x[1]), c = in(x[2]);
    const auto out = [&](float v) {
        if (ftz) v = flushed(v);
        if (sat) v = v > 0 ? std::min(v, 1.0f) : 0.0f;
        return Expected{of(v)};
    };
    const auto near = [&](double v, double absolute, double relative) {
        if (ftz && std::fabs(v) < 0x1p-126) v = std::copysign(0.0, v);
        return Expected{of(static_cast<float>(v)), v, absolute, relative};
    };
    const volatile float va = a, vb = b, vc = c;  // so that the rounding mode counts
    if (n == "add") return out(rounded(i, [&] { return va + vb; }));
    if (n == "sub") return out(rounded(i, [&] { return va - vb; }));
    if (n == "mul") return out(rounded(i, [&] { return va * vb; }));
    if (n == "fma" || n == "mad") return out(rounded(i, [&] { return std::fma(float{va}, float{vb}, float{vc}); }));
    if (n == "div" && i.has(".approx")) {
        if (std::fabs(b) > 0x1p126f && !std::isinf(b) && !std::isnan(a)) return std::isinf(a) ? out(NAN) : near(0, 1e-45, 0);
        return near(static_cast<double>(a) / b, 0, 0x1p-22);
    }
    if (n == "div") return out(rounded(i, [&] { return va / vb; }));
    if (n == "rcp") return out(rounded(i, [&] { return 1.0f / va; }));
    if (n == "sqrt") return out(rounded(i, [&] { return std::sqrt(float{va}); }));
    if (n == "rsqrt") return near(1.0 / std::sqrt(static_cast<double>(a)), 0, 0x1p-22);
    if (n == "ex2") return near(std::exp2(static_cast<double>(a)), 1e-45, 0x1p-22);
    if (n == "lg2") return near(std::log2(static_cast<double>(a)), 0x1p-22, 0x1p-22);
    if (n == "sin" || n == "cos") {
        if (std::fabs(a) > 1e6f && !std::isinf(a)) return {};  // the ISA bounds no error there
        return near(n == "sin" ? std::sin(static_cast<double>(a)) : std::cos(static_cast<double>(a)), 0x1p-20, 0);
    }
    if (n == "tanh") return near(std::tanh(static_cast<double>(a)), 0, 0x1p-11);
    if (n == "neg") return out(-a);
    if (n == "abs") return out(std::fabs(a));
    if (n == "copysign") return Expected{(x[0] & 0x80000000u) | (x[1] & 0x7fffffffu)};
    if (i.has(".NaN") && (std::isnan(a) || std::isnan(b))) return out(NAN);
    if (n == "min") return out(a == b ? (std::signbit(a) ? a : b) : std::isnan(a) ? b : std::isnan(b) ? a : std::fmin(a, b));
    if (n == "max") return out(a == b ? (std::signbit(a) ? b : a) : std::isnan(a) ? b : std::isnan(b) ? a : std::fmax(a, b));
    if (n == "setp") return Expected{compares(i, a, b)};
    if (n == "testp") {
        const int kind = std::fpclassify(a);
        return Expected{i.has(".finite")       ? std::isfinite(a)
                        : i.has(".infinite")   ? std::isinf(a)
                        : i.has(".number")     ? !std::isnan(a)
                        : i.has(".notanumber") ? std::isnan(a)
                        : i.has(".normal")     ? kind == FP_NORMAL
                                               : kind == FP_SUBNORMAL};
    }
    return {};
}

std::optional<Expected> conversion_reference(const Instruction& i, const Arguments& x) {
    const bool ftz = i.has(".ftz"), sat = i.has(".sat");
    const Type to = i.first, from = i.last;
    if (to == Type::f16x2)
        return Expected{uint64_t{std::isnan(f(x[0])) ? uint16_t{0x7fff} : f32_to_f16(f(x[0]))} << 16 |
                        (std::isnan(f(x[1])) ? 0x7fff : f32_to_f16(f(x[1])))};
    if (!is_float(to) && !is_float(from)) {
        wide v = number(x[0], from);
        const int width = static_cast<int>(8 * size_of(to)) - is_signed(to);
        const wide most = (static_cast<wide>(1) << width) - 1;
        if (sat) v = std::min(std::max(v, is_signed(to) ? -most - 1 : static_cast<wide>(0)), most);
        return Expected{static_cast<uint64_t>(number(static_cast<uint64_t>(v), to))};
    }
    if (!is_float(from)) {  // an integer as a float, rounded once
        const wide v = number(x[0], from);
        if (to == Type::f64) return Expected{of(static_cast<double>(static_cast<long double>(v)))};
        const volatile long double exact = static_cast<long double>(v);
        const float r = rounded(i, [&] { return static_cast<float>(exact); });
        if (to == Type::f16) return Expected{f32_to_f16(static_cast<float>(v))};
        return Expected{of(sat ? std::min(std::max(r, 0.0f), 1.0f) : r)};
    }
    double v = from == Type::f64   ? d(x[0])
               : from == Type::f32 ? f(x[0])
               : from == Type::f16 ? f16_to_f32(static_cast<uint16_t>(x[0]))
                                   : bf16_to_f32(static_cast<uint16_t>(x[0]));
    if (ftz && from == Type::f32) v = flushed(f(x[0]));
    const bool integral = i.has(".rni") || i.has(".rzi") || i.has(".rmi") || i.has(".rpi");
    if (integral)
        v = i.has(".rni") ? std::nearbyint(v) : i.has(".rzi") ? std::trunc(v) : i.has(".rmi") ? std::floor(v) : std::ceil(v);
    if (!is_float(to)) {
        const int bits = static_cast<int>(8 * size_of(to));
        const wide most = (static_cast<wide>(1) << (bits - is_signed(to))) - 1, least = is_signed(to) ? -most - 1 : 0;
        if (std::isnan(v))
            return Expected{bits == 64 || from == Type::f64 ? static_cast<uint64_t>(number(1ull << (bits - 1), to)) : 0};
        const wide r = v >= std::ldexp(1.0, 100) ? most : v <= -std::ldexp(1.0, 100) ? least : static_cast<wide>(v);
        return Expected{static_cast<uint64_t>(std::min(std::max(r, least), most))};
    }
    if (to == Type::f64) return Expected{of(sat ? (v > 0 ? std::min(v, 1.0) : 0.0) : v)};
    const volatile double exact = v;
    if (to == Type::f32) {
        float r = rounded(i, [&] { return static_cast<float>(exact); });
        if (ftz) r = flushed(r);
        if (sat) r = r > 0 ? std::min(r, 1.0f) : 0.0f;
        return Expected{of(r)};
    }
    if (std::isnan(v)) return Expected{sat ? 0u : 0x7fffu};
    if (sat) v = v > 0 ? std::min(v, 1.0) : 0.0;
    if (to == Type::bf16) return Expected{f32_to_bf16(static_cast<float>(v))};
    if (from == Type::f64 && static_cast<double>(static_cast<float>(v)) != v) return {};
    uint16_t h = f32_to_f16(static_cast<float>(v));
    if (i.has(".rz") && std::fabs(f16_to_f32(h)) > std::fabs(v)) --h;
    return Expected{h};
}

// --- values -----------------------------------------------------------------------------------------------------------

uint64_t value_of(Rng& rng, Type t) {
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                      0x7fc00000, 0xffc12345, 1,          0x80000001, 0x007fffff, 0x00800000,
                                      0x7f7fffff, 0xff7fffff, 0x40490fdb, 0x3f000000, 0x4b000001, 0xcf000000,
                                      0x4f800000, 0x33800000, 0x7eb00000, 0x40200000, 0xc0200000};
    static const uint64_t integers[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        31,
                                        32,
                                        33,
                                        63,
                                        64,
                                        127,
                                        128,
                                        255,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        ~0ull,
                                        ~1ull};
    const uint64_t kind = rng.below(4);
    if (t == Type::pred) return rng.below(2);
    if (t == Type::f32) {
        if (kind == 0) return floats[rng.below(std::size(floats))];
        if (kind == 1) return static_cast<uint32_t>(rng.next());
        return __builtin_bit_cast(uint32_t, static_cast<float>(rng.uniform(-1, 1) * std::exp2(rng.uniform(-30, 30))));
    }
    if (t == Type::f64) {
        if (kind == 0) return __builtin_bit_cast(uint64_t, static_cast<double>(f(floats[rng.below(std::size(floats))])));
        if (kind == 1) return rng.next();
        return __builtin_bit_cast(uint64_t, rng.uniform(-1, 1) * std::exp2(rng.uniform(-70, 70)));
    }
    if (t == Type::f16 || t == Type::bf16 || t == Type::f16x2) return rng.next();
    if (kind == 0) return rng.below(70);
    if (kind == 1) return integers[rng.below(std::size(integers))];
    return rng.next();
}

struct Lanes {
    alignas(64) std::byte bytes[256] = {};
    void set(Type t, int i, uint64_t bits) {
        if (t == Type::pred) {
            uint32_t mask;
            std::memcpy(&mask, bytes, 4);
            mask = (mask & ~(1u << i)) | static_cast<uint32_t>(bits & 1) << i;
            std::memcpy(bytes, &mask, 4);
        } else {
            std::memcpy(bytes + static_cast<size_t>(i) * lane_bytes(t), &bits, lane_bytes(t));
        }
    }
    uint64_t get(Type t, int i) const {
        uint64_t bits = 0;
        if (t != Type::pred) {
            std::memcpy(&bits, bytes + static_cast<size_t>(i) * lane_bytes(t), lane_bytes(t));
            return bits;
        }
        std::memcpy(&bits, bytes, 4);
        return bits >> i & 1;
    }
};

uint64_t low(uint64_t bits, Type t) {
    return t == Type::pred ? bits & 1 : lane_bytes(t) == 8 ? bits : bits & ((1ull << 8 * lane_bytes(t)) - 1);
}

void call(const Form& form, Lanes (&out)[4], const Lanes (&in)[4], size_t results, size_t sources) {
    if (form.lanes) {
        form.lanes(out[0].bytes, in[0].bytes, in[1].bytes, in[2].bytes);
        return;
    }
    std::byte* d_[4] = {};
    const std::byte* s_[4] = {};
    for (size_t k = 0; k < results; ++k) d_[k] = out[k].bytes;
    for (size_t k = 0; k < sources; ++k) s_[k] = in[k].bytes;
    form.many(d_, s_);
}

}  // namespace

TEST_CASE("every lane function gives what its instruction means in every lane") {
    Rng rng(7);
    std::set<std::string> checked, unchecked;
    for (const Opcode& row : opcodes()) {
        const std::string_view shape = row.operands;
        const size_t equals = shape.find('=');
        if (equals != 1 || shape.find_first_of("XC") != std::string_view::npos)
            continue;  // those have tests of their own below
        for (const Form& form : row.forms) {
            const auto all = spellings(form.pattern);
            for (size_t which = 0; which < all.size(); which += 1 + all.size() / 12) {
                const Instruction i = instruction_of(row, all[which]);
                if (i.last == Type::none || i.last == Type::f16x2 || row.name == "cvta") continue;
                bool compared = false;
                for (int round = 0; round < 6; ++round) {
                    Lanes in[4], out[4];
                    Arguments x[32] = {};
                    for (int l = 0; l < 32; ++l)
                        for (size_t k = 0; equals + 1 + k < shape.size(); ++k) {
                            const Type t = operand_type(shape[equals + 1 + k], i);
                            x[l][k] = low(value_of(rng, t), t);
                            in[k].set(t, l, x[l][k]);
                        }
                    call(form, out, in, 1, shape.size() - equals - 1);
                    const Type result = operand_type(shape[0], i);
                    for (int l = 0; l < 32; ++l) {
                        auto expected = row.name == "cvt"  ? conversion_reference(i, x[l])
                                        : is_float(i.last) ? float_reference(i, x[l])
                                                           : std::nullopt;
                        if (!expected && row.name != "cvt")
                            expected = i.last == Type::pred || !is_float(i.last) || row.name == "selp" ||
                                               row.name == "mov" || row.name == "slct"
                                           ? integer_reference(i, x[l])
                                           : std::nullopt;
                        if (!expected) continue;
                        compared = true;
                        const uint64_t got = out[0].get(result, l);
                        if (got == low(expected->bits, result)) continue;
                        const double value = f(got);
                        if (expected->absolute + expected->relative > 0 &&
                            std::fabs(value - expected->value) <=
                                expected->absolute + expected->relative * std::fabs(expected->value))
                            continue;
                        FAIL_CHECK(row.name << all[which] << " of " << std::hex << x[l][0] << " " << x[l][1] << " "
                                            << x[l][2] << " " << x[l][3] << ": got " << got << ", not "
                                            << low(expected->bits, result));
                        round = 6;
                        break;
                    }
                }
                (compared ? checked : unchecked).insert(std::string(row.name) + all[which]);
            }
        }
    }
    for (const std::string& name : unchecked) UNSCOPED_INFO(name);
    CHECK(unchecked.empty());
    CHECK(checked.size() > 500);
}

TEST_CASE("every copy of the table gives the portable one's bits") {
    const auto portable = opcodes(Simd::portable);
    for (const Simd simd : {Simd::avx2, Simd::avx512}) {
        const auto fast = opcodes(simd);
        if (fast.empty()) continue;
        REQUIRE(fast.size() == portable.size());
        Rng rng(11);
        for (size_t r = 0; r < portable.size(); ++r) {
            REQUIRE(fast[r].name == portable[r].name);
            const std::string_view shape = portable[r].operands;
            const bool described = shape.find('X') != std::string_view::npos;
            for (size_t n = 0; n < portable[r].forms.size(); ++n) {
                const Form &one = portable[r].forms[n], &other = fast[r].forms[n];
                if (!one.lanes && !one.many) continue;
                const Instruction i = instruction_of(portable[r], spellings(one.pattern)[0]);
                for (int round = 0; round < 4; ++round) {
                    Lanes in[4], first[4], second[4];
                    for (auto& operand : in)
                        for (int l = 0; l < 32; ++l)
                            operand.set(lane_bytes(i.last) == 8 || round == 3 ? Type::u64
                                        : i.last == Type::pred                ? Type::u32
                                                                              : i.last,
                                        l, value_of(rng, i.last == Type::pred ? Type::u32 : i.last));
                    if (described) {
                        const bool convert = portable[r].name == "cvt";
                        const uint32_t how[7] = {convert ? 8u : static_cast<uint32_t>(rng.below(18)),
                                                 convert ? 16u : static_cast<uint32_t>(rng.below(4)),
                                                 1,
                                                 convert ? 8u : 0x3f800000u,
                                                 0,
                                                 4,
                                                 1};
                        std::memcpy(in[convert ? 1 : 3].bytes, how, sizeof how);
                    }
                    call(one, first, in, 4, 4);
                    call(other, second, in, 4, 4);
                    INFO(portable[r].name << one.pattern);
                    CHECK(std::memcmp(first, second, sizeof first) == 0);
                }
            }
        }
    }
}

TEST_CASE("carries chain additions and multiplications beyond 64 bits") {
    Rng rng(3);
    const auto form = [](std::string_view name, std::string_view modifiers) {
        for (const Candidate& c : candidates(name, modifiers))
            if (c.opcode->operands.find_first_of("Cc") != std::string_view::npos) return *c.form;
        throw std::runtime_error("no such form");
    };
    for (int round = 0; round < 20; ++round) {
        Lanes in[4], low_sum[4], high_sum[4];
        uint64_t a[32], b[32];
        for (int l = 0; l < 32; ++l) {
            a[l] = value_of(rng, Type::u64), b[l] = value_of(rng, Type::u64);
            in[0].set(Type::u32, l, a[l]), in[1].set(Type::u32, l, b[l]);
        }
        const bool subtract = round % 2;
        call(form(subtract ? "sub" : "add", ".cc.u32"), low_sum, in, 2, 2);
        for (int l = 0; l < 32; ++l) in[0].set(Type::u32, l, a[l] >> 32), in[1].set(Type::u32, l, b[l] >> 32);
        in[2] = low_sum[1];
        call(form(subtract ? "subc" : "addc", ".u32"), high_sum, in, 1, 3);
        for (int l = 0; l < 32; ++l)
            CHECK((high_sum[0].get(Type::u32, l) << 32 | low_sum[0].get(Type::u32, l)) ==
                  (subtract ? a[l] - b[l] : a[l] + b[l]));
    }
}

TEST_CASE("setp combines with a predicate, and its second destination with the opposite") {
    const std::vector<Candidate> rows = candidates("setp", ".lt.and.f32");
    REQUIRE(rows.size() == 1);
    Lanes in[4], out[4];
    for (int l = 0; l < 32; ++l) {
        in[0].set(Type::f32, l, of(static_cast<float>(l)));
        in[1].set(Type::f32, l, of(16.0f));
        in[2].set(Type::pred, l, l % 2 == 0);
    }
    const uint32_t how[4] = {2, 1, 1, 0};  // lt, and, !c
    std::memcpy(in[3].bytes, how, sizeof how);
    call(*rows[0].form, out, in, 2, 4);
    CHECK(out[0].get(Type::u32, 0) == 0x0000aaaau);
    CHECK(out[1].get(Type::u32, 0) == 0xaaaa0000u);
}

TEST_CASE("the letters of the timeline mean one group each") {
    std::map<char, std::string_view> groups;
    for (const Opcode& row : opcodes()) {
        INFO(row.name);
        CHECK(groups.try_emplace(row.letter, row.group).first->second == row.group);
        CHECK(!row.summary.empty());
        CHECK(row.forms.size() > 0);
    }
}
