// Every comparison and selection of the opcode table, in every type, with every combination.
#include "tests/ptx/opcode_support.h"

namespace ptx_every_compare_test {

using namespace opcode_test;

namespace {

// A float of any width as a double.
double float_value(const Instruction& i, Type t, uint64_t bits) {
    const int fraction = t == Type::f16 || t == Type::f16x2 ? 10 : t == Type::f32 ? 23 : t == Type::f64 ? 52 : 7;
    const int width = t == Type::f64 ? 64 : t == Type::f32 ? 32 : 16;
    const uint64_t exponents = (1ull << (width - 1 - fraction)) - 1, e = bits >> fraction & exponents;
    const uint64_t m = bits & ((1ull << fraction) - 1);
    const double sign = bits >> (width - 1) & 1 ? -1.0 : 1.0;
    if (e == exponents) return m ? NAN : sign * INFINITY;
    if (e == 0 && i.has(".ftz")) return sign * 0.0;
    const int bias = static_cast<int>(exponents / 2);
    return sign *
           std::ldexp(static_cast<double>(e ? m | 1ull << fraction : m), static_cast<int>(e ? e : 1) - bias - fraction);
}
bool holds(const Instruction& i, Type t, uint64_t a, uint64_t b) {
    return float_type(t) ? compares(i, float_value(i, t, a), float_value(i, t, b)) : compares(i, number(a, t), number(b, t));
}
bool combined(const Instruction& i, bool t, const Arguments& x) {
    const bool c = i.combined() && (x[2] & 1) != (i.operands[3].negated ? 1u : 0u);
    return i.has(".and") ? t && c : i.has(".or") ? t || c : i.has(".xor") ? t != c : t;
}

std::optional<Expected> definition(const Instruction& i, const Arguments& x) {
    const Type t = i.last;
    const bool pair = t == Type::f16x2 || t == Type::bf16x2;
    if (i.name == "setp" && pair)
        return Expected{.bits = combined(i, holds(i, t, x[0], x[1]), x),
                        .second = combined(i, holds(i, t, x[0] >> 16, x[1] >> 16), x)};
    if (i.name == "setp") {
        const bool is = holds(i, t, x[0], x[1]);
        return Expected{.bits = combined(i, is, x), .second = combined(i, !is, x)};
    }
    if (i.name == "set") {
        const Type d = i.first;
        const bool float_result = float_type(d);
        const uint64_t yes = !float_result                        ? ~0ull
                             : d == Type::f32                     ? 0x3f800000u
                             : d == Type::f16 || d == Type::f16x2 ? 0x3c00u
                                                                  : 0x3f80u;
        if (pair) {
            const uint64_t a = combined(i, holds(i, t, x[0], x[1]), x) ? yes & 0xffff : 0;
            const uint64_t b = combined(i, holds(i, t, x[0] >> 16, x[1] >> 16), x) ? yes & 0xffff : 0;
            return Expected{.bits = a | b << 16};
        }
        return Expected{.bits = combined(i, holds(i, t, x[0], x[1]), x) ? yes : 0};
    }
    if (i.name == "selp") return Expected{.bits = (x[2] & 1) != (i.operands[3].negated ? 1u : 0u) ? x[0] : x[1]};
    if (i.name == "slct") {
        const bool first = t == Type::f32 ? float_value(i, t, x[2]) >= 0 : number(x[2], Type::s32) >= 0;
        return Expected{.bits = first ? x[0] : x[1]};
    }
    if (i.name == "testp") {
        const double a = float_value(i, t, x[0]);
        const bool normal = a == 0 || (std::isfinite(a) && std::fabs(a) >= (t == Type::f32 ? 0x1p-126 : 0x1p-1022));  // H200
        return Expected{.bits = i.has(".finite")       ? std::isfinite(a)
                                : i.has(".infinite")   ? std::isinf(a)
                                : i.has(".number")     ? !std::isnan(a)
                                : i.has(".notanumber") ? std::isnan(a)
                                : i.has(".normal")     ? normal
                                                       : a != 0 && std::isfinite(a) && !normal};
    }
    if (i.name ==
        "isspacep") {  // windows of 2^24 bytes at 2^40 (shared memory, then that of the cluster's blocks), 2^41 and 3 * 2^40
        const uint64_t window = x[0] >> 24;
        const bool shared = window == 1 << 16, cluster = window >= 1 << 16 && window <= (1 << 16) + 16,
                   local = window == 1 << 17, param = window == 3 << 16;
        return Expected{.bits = i.has(".shared::cluster")                   ? cluster
                                : i.has(".shared") || i.has(".shared::cta") ? shared
                                : i.has(".local")                           ? local
                                : i.has(".global")                          ? !cluster && !local && !param
                                                                            : !i.has(".const") && param};
    }
    return {};
}

}  // namespace

TEST_CASE("every comparison and selection gives what it means in every lane") {
    walk({"compare and select"}, definition, 1500);
}

TEST_CASE("an address of each space lies in it") {
    const auto program = program_of({"isspacep.shared %p1, %rd1", "isspacep.local %p2, %rd1", "isspacep.global %p3, %rd1",
                                     "isspacep.shared::cluster %p4, %rd1", "isspacep.param %p5, %rd1"});
    REQUIRE(program);
    Machine machine(*program.value());
    const uint64_t addresses[] = {0x7f0000000000, shared_window + 5, shared_window + window_bytes + 1, local_window + 100,
                                  param_window + 8};
    for (int l = 0; l < 5; ++l) machine.set("%rd1", Type::u64, l, addresses[l]);
    for (size_t n = 0; n < 5; ++n) {
        const DecodedInstruction& i = program.value()->instructions[n];
        machine.run(i, opcodes()[place_of(i).row].forms[place_of(i).form]);
    }
    const uint64_t expected[5][5] = {{0, 0, 1, 0, 0}, {1, 0, 0, 1, 0}, {0, 0, 0, 1, 0}, {0, 1, 0, 0, 0}, {0, 0, 0, 0, 1}};
    for (int l = 0; l < 5; ++l)
        for (size_t n = 0; n < 5; ++n) {
            INFO(l << " " << n);
            CHECK(machine.get("%p" + std::to_string(n + 1), Type::pred, l) == expected[l][n]);
        }
}

}  // namespace ptx_every_compare_test
