// Every f32 instruction of the opcode table. Directed rounding is defined by the FPU's own rounding modes, approximations by
// libm in double with the error that the ISA allows.
#include <cfenv>

#include "tests/ptx/opcode_support.h"

namespace ptx_every_float_test {

using namespace opcode_test;

namespace {

float f(uint64_t bits) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits));
}
uint64_t of(float x) {
    return std::isnan(x) ? 0x7fffffffu : __builtin_bit_cast(uint32_t, x);
}
float flushed(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
template <class Operation>
float rounded(const Instruction& i, Operation operation) {
    std::fesetround(i.has(".rz") ? FE_TOWARDZERO : i.has(".rm") ? FE_DOWNWARD : i.has(".rp") ? FE_UPWARD : FE_TONEAREST);
    const volatile float result = operation();  // stored before the mode changes back
    std::fesetround(FE_TONEAREST);
    return result;
}

std::optional<Expected> definition(const Instruction& i, const Arguments& x) {
    const std::string& n = i.name;
    const bool ftz = i.has(".ftz");
    if (n == "copysign" && i.last == Type::f64) return Expected{.bits = (x[0] & 1ull << 63) | (x[1] & ~(1ull << 63))};
    if (n == "copysign") return Expected{.bits = (x[0] & 0x80000000u) | (x[1] & 0x7fffffffu)};
    const auto in = [&](uint64_t bits) { return ftz ? flushed(f(bits)) : f(bits); };
    const volatile float va = in(x[0]), vb = in(x[1]), vc = in(x[2]);  // so that the rounding mode counts
    const float a = va, b = vb;
    const auto out = [&](float v) {
        if (ftz) v = flushed(v);
        if (i.has(".sat")) v = v > 0 ? std::min(v, 1.0f) : 0.0f;
        return Expected{.bits = of(v)};
    };
    const auto near = [&](double v, double absolute, double relative) {
        if (ftz && std::fabs(v) < 0x1p-126) {  // just below the smallest normal number the error may reach it
            if (std::fabs(v) > 0x1p-126 * (1 - 0x1p-22)) absolute = 0x1p-126;
            v = std::copysign(0.0, v);
        }
        return Expected{.bits = of(static_cast<float>(v)), .value = v, .absolute = absolute, .relative = relative};
    };
    if (n == "add") return out(rounded(i, [&] { return va + vb; }));
    if (n == "sub") return out(rounded(i, [&] { return va - vb; }));
    // .ftz: what is below the normal numbers when it is rounded to 24 bits is a zero, though it may be rounded to the
    // smallest normal number in the bits of a subnormal: measured on an H200.
    const auto out_scaled = [&](float v, float by_2_to_64) {
        return out(ftz && std::fabs(by_2_to_64) < 0x1p-62f ? std::copysign(0.0f, v) : v);
    };
    const volatile float ua = va * 0x1p64f, uc = vc * 0x1p64f;
    if (n == "mul") return out_scaled(rounded(i, [&] { return va * vb; }), rounded(i, [&] { return ua * vb; }));
    if (n == "fma" || n == "mad")
        return out_scaled(rounded(i, [&] { return std::fma(float{va}, float{vb}, float{vc}); }),
                          rounded(i, [&] { return std::fma(float{ua}, float{vb}, float{uc}); }));
    if (n == "div" && i.has(".approx")) {
        if (std::fabs(b) > 0x1p126f && !std::isinf(b) && !std::isnan(a))  // the sign of the zero is the quotient's
            return std::isinf(a) ? out(NAN) : near(std::copysign(0.0, static_cast<double>(a) / b), 1e-45, 0);
        return near(static_cast<double>(a) / b, 0x1p-149, 0x1p-22);
    }
    if (n == "div" && i.has(".full")) return near(static_cast<double>(a) / b, 0x1p-149, 0x1p-22);
    if (n == "div") return out_scaled(rounded(i, [&] { return va / vb; }), rounded(i, [&] { return ua / vb; }));
    if (n == "rcp" && i.has(".approx")) return near(1.0 / static_cast<double>(a), 0x1p-149, 0x1p-23);
    if (n == "sqrt" && i.has(".approx")) return near(std::sqrt(static_cast<double>(a)), 0, 0x1p-23);
    if (n == "rcp") return out(rounded(i, [&] { return 1.0f / va; }));
    if (n == "sqrt") return out(rounded(i, [&] { return std::sqrt(float{va}); }));
    if (n == "rsqrt") return near(1.0 / std::sqrt(static_cast<double>(a)), 0, 0x1p-22);
    if (n == "neg") return out(-a);
    if (n == "abs") return out(std::fabs(a));
    if (n == "min" || n == "max") {
        const bool signs = i.has(".xorsign");
        const float p = signs ? std::fabs(a) : a, q = signs ? std::fabs(b) : b;
        float r = p == q          ? (std::signbit(p) == (n == "min") ? p : q)
                  : std::isnan(p) ? q
                  : std::isnan(q) ? p
                  : n == "min"    ? std::fmin(p, q)
                                  : std::fmax(p, q);
        if (i.has(".NaN") && (std::isnan(p) || std::isnan(q))) r = NAN;
        if (!signs || std::isnan(r)) return out(r);
        return Expected{.bits = (of(r) & 0x7fffffffu) |
                                ((of(std::copysign(1.0f, a)) ^ of(std::copysign(1.0f, b))) & 0x80000000u)};
    }
    return {};
}

// f16 and bf16 of a float: to nearest even, in another way than by shifting: the nearer of two neighbours.
double half_value(uint32_t bits, int fraction) {
    const int bias = fraction == 10 ? 15 : 127;
    const int e = static_cast<int>(bits >> fraction & (fraction == 10 ? 31u : 255u));
    const double m = bits & ((1u << fraction) - 1);
    if (e == 2 * bias + 1) return m != 0 ? NAN : (bits >> 15 ? -INFINITY : INFINITY);
    return (bits >> 15 ? -1 : 1) * std::ldexp(e ? m + (1 << fraction) : m, (e ? e : 1) - bias - fraction);
}

// Of a result in f16 or bf16, or of each half of a pair: within the error that the ISA allows.
bool half_is_near(uint32_t got, int fraction, double exact, double relative, bool ftz) {
    const double value = half_value(got, fraction);
    if (std::isnan(exact)) return got == 0x7fff;
    const double most = std::ldexp(2.0 - std::ldexp(1.0, -fraction), fraction == 10 ? 15 : 127);
    if (std::fabs(exact) > most) return value == std::copysign(INFINITY, exact) || std::fabs(value) == most;
    const double unit = std::ldexp(1.0, fraction == 10 ? -24 : -133);
    if (ftz && std::fabs(exact) < std::ldexp(1.0, -126)) return value == 0;
    return std::fabs(value - exact) <= std::fabs(exact) * relative + unit;
}

std::optional<Expected> approximate(const Instruction& i, const Arguments& x) {
    const std::string& n = i.name;
    if (i.last == Type::f32) {
        const bool ftz = i.has(".ftz");
        const double a = ftz ? flushed(f(x[0])) : f(x[0]);
        const auto near = [&](double v, double absolute, double relative) {
            if (ftz && std::fabs(v) < 0x1p-126) v = std::copysign(0.0, v);
            return Expected{.bits = of(static_cast<float>(v)), .value = v, .absolute = absolute, .relative = relative};
        };
        if (n == "ex2") return near(std::exp2(a), 1e-45, 0x1p-22);
        if (n == "lg2") return near(std::log2(a), 0x1p-22, 0x1p-22);
        if ((n == "sin" || n == "cos") && (std::fabs(a) <= 100 * 3.141592 || !std::isfinite(a)))
            return near(n == "sin" ? std::sin(a) : std::cos(a), std::fabs(a) <= 6.283185 ? 0x1p-20 : 0x1p-14, 0);
        if (n == "tanh") return near(std::tanh(a), 0, 0x1p-11);
        if (n == "sin" || n == "cos") return {};  // the ISA bounds no error there
    }
    return definition(i, x);
}

}  // namespace

TEST_CASE("every single-precision instruction gives what it means in every lane") {
    walk({"float"}, definition, 60);
}

TEST_CASE("every special function is within the error that the ISA allows") {
    walk(
        {"special function"},
        [](const Instruction& i, const Arguments& x) -> std::optional<Expected> {
            if (i.last == Type::f32) return approximate(i, x);
            // halves: the test below
            return Expected{.elsewhere = true};
        },
        30);
}

TEST_CASE("ex2 and tanh of every f16 and bf16 are within the error that the ISA allows, alone and in pairs") {
    struct Function {
        const char *one, *two;
        int fraction;
        double (*exactly)(double);
        double relative;
        bool ftz;
    };
    const auto exp2 = [](double v) { return std::exp2(v); };
    const auto tanh = [](double v) { return std::tanh(v); };
    const Function functions[] = {{"ex2.approx.f16 %h2, %h1", "ex2.approx.f16x2 %r2, %r1", 10, exp2, 0x1p-9, false},
                                  {"ex2.approx.ftz.bf16 %h2, %h1", "ex2.approx.ftz.bf16x2 %r2, %r1", 7, exp2, 0x1p-7, true},
                                  {"tanh.approx.f16 %h2, %h1", "tanh.approx.f16x2 %r2, %r1", 10, tanh, 0x1p-10, false},
                                  {"tanh.approx.bf16 %h2, %h1", "tanh.approx.bf16x2 %r2, %r1", 7, tanh, 0x1p-8, false}};
    for (const Function& function : functions) {
        const auto program = program_of({function.one, function.two});
        REQUIRE(program);
        Machine machine(*program.value());
        const DecodedInstruction &one = program.value()->instructions[0], &two = program.value()->instructions[1];
        for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
            const auto copy = opcodes(simd);
            if (copy.empty()) continue;
            int wrong = 0;
            for (uint32_t first = 0; first < 0x10000; first += 32) {
                for (int l = 0; l < 32; ++l) {
                    const uint32_t a = first + static_cast<uint32_t>(l);
                    machine.set("%h1", Type::u16, l, a);
                    machine.set("%r1", Type::u32, l, a | (a ^ 0x8123) << 16);
                }
                machine.run(one, copy[place_of(one).row].forms[place_of(one).form]);
                machine.run(two, copy[place_of(two).row].forms[place_of(two).form]);
                for (int l = 0; l < 32; ++l) {
                    const uint32_t a = first + static_cast<uint32_t>(l);
                    const auto near = [&](uint32_t from, uint64_t got) {
                        double v = half_value(from, function.fraction);
                        if (function.ftz && (from & 0x7f80) == 0) v = 0;
                        return half_is_near(static_cast<uint32_t>(got), function.fraction, function.exactly(v),
                                            function.relative, function.ftz);
                    };
                    const uint64_t pair = machine.get("%r2", Type::u32, l);
                    const bool right =
                        near(a, machine.get("%h2", Type::u16, l)) && near(a, pair & 0xffff) && near(a ^ 0x8123, pair >> 16);
                    if (!right && ++wrong < 5)
                        FAIL_CHECK(function.one << " of " << std::hex << a << ": " << machine.get("%h2", Type::u16, l) << " "
                                                << pair);
                }
            }
            CHECK(wrong == 0);
        }
    }
}

}  // namespace ptx_every_float_test
