// Every f64 instruction of the opcode table. Rounding is defined by exact arithmetic on long integers: the result is the
// neighbour of the exact value on the side that the rounding asks for.
#include "tests/ptx/exact.h"
#include "tests/ptx/opcode_support.h"

namespace ptx_every_double_test {

using namespace opcode_test;
using exact::Number;

namespace {

constexpr uint64_t sign_bit = 1ull << 63, nan_bits = 0xfff8000000000000ull, infinity = 0x7ffull << 52;

double d(uint64_t bits) {
    return __builtin_bit_cast(double, bits);
}
uint64_t of(double x) {
    return std::isnan(x) ? nan_bits : __builtin_bit_cast(uint64_t, x);
}
// Of operands that are NaNs an H200 gives one, made quiet: the second before the third before the first.
std::optional<uint64_t> operand_nan(const Instruction& i, const Arguments& x) {
    for (const size_t k : {1, 2, 0}) {
        const bool there = k + 1 < i.operands.size();
        if (there && std::isnan(d(x[k]))) return x[k] | 1ull << 51;
    }
    return {};
}
exact::Rounding rounding_of(const Instruction& i) {
    return i.has(".rz")   ? exact::Rounding::zero
           : i.has(".rm") ? exact::Rounding::down
           : i.has(".rp") ? exact::Rounding::up
                          : exact::Rounding::nearest;
}

// With special operands the nearest result is the directed one too.
std::optional<Expected> rounded(const Instruction& i, const Arguments& x) {
    const std::string& n = i.name;
    const double a = d(x[0]), b = d(x[1]), c = d(x[2]);
    if (const auto nan = operand_nan(i, x)) return Expected{.bits = *nan};
    const exact::Rounding rounding = rounding_of(i);
    const bool down = rounding == exact::Rounding::down;
    const auto finish = [&](const Number& value, bool negative_zero) {
        return Expected{.bits = exact::round_to(exact::f64, value, rounding, negative_zero)};
    };
    const bool ab = std::isfinite(a) && std::isfinite(b);
    if (n == "add" || n == "sub") {
        const uint64_t other = n == "sub" ? x[1] ^ sign_bit : x[1];
        if (!ab) return Expected{.bits = of(a + d(other))};
        const bool same_zeros = a == 0 && b == 0 && ((x[0] ^ other) & sign_bit) == 0;
        return finish(Number::of(exact::f64, x[0]) + Number::of(exact::f64, other),
                      same_zeros ? (x[0] & sign_bit) != 0 : down);
    }
    if (n == "mul") {
        if (!ab) return Expected{.bits = of(a * b)};
        return finish(exact::product(exact::f64, x[0], x[1]), ((x[0] ^ x[1]) & sign_bit) != 0);
    }
    if (n == "fma" || n == "mad") {
        if (!ab || !std::isfinite(c)) return Expected{.bits = of(std::fma(a, b, c))};
        const bool minus = ((x[0] ^ x[1]) & sign_bit) != 0, minus_c = (x[2] & sign_bit) != 0;
        const Number p = exact::product(exact::f64, x[0], x[1]);
        const bool zeros = p.sign() == 0 && c == 0 && minus == minus_c;
        return finish(p + Number::of(exact::f64, x[2]), zeros ? minus : down);
    }
    if (n == "div" || n == "rcp") {
        const uint64_t top = n == "rcp" ? of(1.0) : x[0], under = n == "rcp" ? x[0] : x[1];
        const double p = d(top), q = d(under);
        if (!std::isfinite(p) || !std::isfinite(q) || p == 0 || q == 0) return Expected{.bits = of(p / q)};
        const bool minus = ((top ^ under) & sign_bit) != 0;
        const uint64_t divisor = under & ~sign_bit;
        const Number dividend = Number::of(exact::f64, top & ~sign_bit);
        // r <= p/q as r * q <= p, for r any encoding or the middle of two: as a sum of its product with the unit
        const uint64_t below = exact::largest_within(
            exact::f64, [&](uint64_t r) { return (dividend - exact::product(exact::f64, r, divisor)).sign() >= 0; });
        const Number rest = dividend - exact::product(exact::f64, below, divisor);
        if (rest.sign() == 0) return Expected{.bits = (minus ? sign_bit : 0) | below};
        const uint64_t e = below >> 52;
        const auto divisor_times = [&](int exponent) {  // divisor * 2^exponent
            const uint64_t de = divisor >> 52, m = divisor & ((1ull << 52) - 1);
            return Number::scaled(de ? m | 1ull << 52 : m, static_cast<int>(de ? de : 1) - 1075 + exponent, false);
        };
        const int middle = (rest - divisor_times(static_cast<int>(e ? e : 1) - 1075 - 1)).sign();
        const bool up = rounding == exact::Rounding::nearest
                            ? middle > 0 || (middle == 0 && (below & 1))
                            : (rounding == exact::Rounding::up && !minus) || (down && minus);
        return Expected{.bits = (minus ? sign_bit : 0) | (below + (up ? 1 : 0))};
    }
    if (n == "sqrt") {
        if (!(a > 0) || std::isinf(a)) return Expected{.bits = of(std::sqrt(a))};
        const Number square = Number::of(exact::f64, x[0]);
        const uint64_t below = exact::largest_within(exact::f64, [&](uint64_t r) {
            return r < 0x5ffull << 52 && (square - exact::product(exact::f64, r, r)).sign() >= 0;
        });
        if ((square - exact::product(exact::f64, below, below)).sign() == 0) return Expected{.bits = below};
        // never halfway: (r + u/2)^2 = r^2 + r u + u^2/4
        const int e = static_cast<int>(below >> 52);
        const uint64_t m = (below & ((1ull << 52) - 1)) | 1ull << 52;
        const Number halfway = exact::product(exact::f64, below, below) + Number::scaled(m, 2 * (e - 1075), false) +
                               Number::scaled(1, 2 * (e - 1075) - 2, false);
        const bool up =
            rounding == exact::Rounding::up || (rounding == exact::Rounding::nearest && (square - halfway).sign() > 0);
        return Expected{.bits = below + (up ? 1 : 0)};
    }
    return {};
}

std::optional<Expected> definition(const Instruction& i, const Arguments& x) {
    const std::string& n = i.name;
    const double a = d(x[0]), b = d(x[1]);
    if (i.has(".approx")) {
        const bool gross = i.has(".ftz");
        const double seen = !gross                               ? a
                            : std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0, a)
                                                                 : d(x[0] & 0xffffffff00000000ull);
        const double exactly = n == "rcp" ? 1.0 / seen : 1.0 / std::sqrt(seen);
        const double given = gross && std::fpclassify(exactly) == FP_SUBNORMAL ? std::copysign(0.0, exactly) : exactly;
        return Expected{.bits = of(given), .value = given, .absolute = 0, .relative = gross ? 0x1p-20 : 0x1p-51};
    }
    if ((n == "neg" || n == "abs") && std::isnan(a)) return Expected{.bits = x[0] | 1ull << 51};
    if (n == "neg") return Expected{.bits = x[0] ^ sign_bit};
    if (n == "abs") return Expected{.bits = x[0] & ~sign_bit};
    if (n == "min" || n == "max") {
        if (std::isnan(a) && std::isnan(b)) return Expected{.bits = x[0] | 1ull << 51};
        if (std::isnan(a) || std::isnan(b)) return Expected{.bits = of(std::isnan(a) ? b : a)};
        const bool first = a == b ? ((x[0] & sign_bit) != 0) == (n == "min") : (a < b) == (n == "min");
        return Expected{.bits = first ? x[0] : x[1]};
    }
    return rounded(i, x);
}

}  // namespace

TEST_CASE("every double-precision instruction rounds the exact result once, in its direction") {
    walk({"double"}, definition, 30);
}

TEST_CASE("an approximate reciprocal of f64 has zeros in its lower half") {
    const auto program = program_of({"rcp.approx.ftz.f64 %rd2, %rd1"});
    REQUIRE(program);
    Machine machine(*program.value());
    machine.set("%rd1", Type::f64, 0, of(3.0));
    const DecodedInstruction& i = program.value()->instructions[0];
    machine.run(i, opcodes()[place_of(i).row].forms[place_of(i).form]);
    CHECK((machine.get("%rd2", Type::f64, 0) & 0xffffffffu) == 0);
    CHECK(std::fabs(d(machine.get("%rd2", Type::f64, 0)) * 3.0 - 1.0) < 0x1p-20);
    CHECK(infinity == of(1.0 / 0.0));
}

}  // namespace ptx_every_double_test
