// atom and red in every operation, type and space, against a plain loop over the lanes; and the spellings of ld and st that
// move more, or say more, than a word. Values are made of edge cases; floats are rounded here by a definition of their own.
#include <cfenv>
#include <cmath>
#include <limits>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_atomic_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

constexpr uint32_t lanes = 32, cells = 5;

std::shared_ptr<const ptx::Program> program_of(const std::string& text) {
    const Result<ptx::Module> module = ptx::parse(text, "test.ptx");
    INFO(text);
    REQUIRE(module);
    const auto program = ptx::decode(module.value(), "k");
    INFO((program ? std::string() : render(program.error())));
    REQUIRE(program);
    return program.value();
}

std::string refusal_of(const std::string& text) {
    const Result<ptx::Module> module = ptx::parse(text, "test.ptx");
    if (!module) return module.error().message;
    const auto program = ptx::decode(module.value(), "k");
    return program ? "" : program.error().message;
}

std::string kernel(const std::string& body) {
    return ".version 8.8\n.target sm_100\n.address_size 64\n"
           ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2) {\n"
           ".reg .pred %p<4>; .reg .b16 %rs<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>; .reg .f64 %fd<9>;\n"
           ".reg .b128 %q<4>;\n.shared .align 16 .b8 area[1024];\n"
           "ld.param.u64 %rd0, [k_0];\nld.param.u64 %rd1, [k_1];\nld.param.u64 %rd2, [k_2];\nmov.u32 %r0, %tid.x;\n" +
           body + "\nret;\n}\n";
}

struct Word {  // the bits of a value of up to 16 bytes
    uint64_t low = 0, high = 0;
    bool operator==(const Word&) const = default;
};

// One instruction under test: `cells` cells at k_0, the lanes' operands at k_1 (b, then c), old values to k_2.
struct Case {
    std::string spelling;  // "atom.global.add.u32", without the operands
    uint32_t bytes;        // of a value
    bool returns = true, swaps = false;
};

std::string text_of(const Case& c, const std::string& space) {
    const std::string size = std::to_string(c.bytes);
    const std::string type = ".b" + std::to_string(8 * c.bytes);
    const std::string r = c.bytes == 2 ? "%rs" : c.bytes == 4 ? "%r1" : c.bytes == 8 ? "%rd1" : "%q";
    const std::string copy = c.bytes == 16
                                 ? "ld.global.b128 %q0, [%rd3];\nst.shared.b128 [%r4], %q0;\n"
                                 : "ld.global" + type + " " + r + "0, [%rd3];\nst.shared" + type + " [%r4], " + r + "0;\n";
    const std::string back = c.bytes == 16
                                 ? "ld.shared.b128 %q0, [%r4];\nst.global.b128 [%rd3], %q0;\n"
                                 : "ld.shared" + type + " " + r + "0, [%r4];\nst.global" + type + " [%rd3], " + r + "0;\n";
    std::string body = "rem.u32 %r2, %r0, " + std::to_string(cells) + ";\nmul.lo.u32 %r4, %r2, " + size +
                       ";\ncvt.u64.u32 %rd4, %r4;\nadd.s64 %rd3, %rd0, %rd4;\nmov.u32 %r5, area;\nadd.s32 %r4, %r4, %r5;\n"
                       "cvt.u64.u32 %rd5, %r4;\ncvta.shared.u64 %rd5, %rd5;\n"
                       "mul.wide.u32 %rd6, %r0, " +
                       size + ";\nadd.s64 %rd7, %rd1, %rd6;\nadd.s64 %rd8, %rd2, %rd6;\n";
    const bool shared = space == "shared" || space == "generic shared";
    if (shared) body += copy + "bar.sync 0;\n";
    body += "ld.global" + type + " " + r + "2, [%rd7];\nld.global" + type + " " + r + "3, [%rd7+" +
            std::to_string(lanes * c.bytes) + "];\n";
    const std::string address = space == "shared" ? "[%r4]" : space == "generic shared" ? "[%rd5]" : "[%rd3]";
    body +=
        c.spelling + " " + (c.returns ? r + "1, " : "") + address + ", " + r + "2" + (c.swaps ? ", " + r + "3" : "") + ";\n";
    if (shared) body += "bar.sync 0;\n" + back;
    if (c.returns) body += "st.global" + type + " [%rd8], " + r + "1;\n";
    return kernel(body);
}

struct Outcome {
    std::vector<Word> cells, old;
};

std::vector<std::byte> packed(const std::vector<Word>& words, uint32_t bytes) {
    std::vector<std::byte> out(words.size() * bytes);
    for (size_t i = 0; i < words.size(); ++i) std::memcpy(out.data() + i * bytes, &words[i], bytes);
    return out;
}
std::vector<Word> unpacked(const std::vector<std::byte>& bytes, uint32_t each) {
    std::vector<Word> out(bytes.size() / each);
    for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], bytes.data() + i * each, each);
    return out;
}

Outcome run_case(const Case& c, const std::string& space, const std::vector<Word>& start, std::vector<Word> b,
                 const std::vector<Word>& with) {
    const auto program = program_of(text_of(c, space));
    Memory memory;
    b.insert(b.end(), with.begin(), with.end());
    const uint64_t at = put(memory, packed(start, c.bytes), "cells"), values = put(memory, packed(b, c.bytes), "values");
    const uint64_t out = memory.allocate(lanes * c.bytes, "old");
    const LaunchResult result = launch(*program, config_of({1}, {lanes}, {at, values, out}), memory);
    INFO((result.fault ? render(*result.fault) : std::string()));
    REQUIRE(!result.fault);
    return {unpacked(read_back<std::byte>(memory, at, cells * c.bytes), c.bytes),
            unpacked(read_back<std::byte>(memory, out, lanes * c.bytes), c.bytes)};
}

using Definition = std::function<Word(Word old, Word b, Word c)>;

void check_case(const Case& c, const std::vector<uint64_t>& edges, const Definition& f,
                const std::vector<std::string>& spaces) {
    std::vector<Word> start(cells), b(lanes), with(lanes);
    for (size_t i = 0; i < cells; ++i) start[i] = {edges[i * 3 % edges.size()], c.bytes == 16 ? edges[i % edges.size()] : 0};
    for (size_t i = 0; i < lanes; ++i) {
        b[i] = {edges[i % edges.size()], c.bytes == 16 ? edges[i % edges.size()] : 0};
        with[i] = {edges[(i * 7 + 1) % edges.size()], c.bytes == 16 ? edges[(i + 2) % edges.size()] : 0};
        if (c.bytes < 8) {
            const uint64_t mask = (uint64_t{1} << 8 * c.bytes) - 1;
            b[i].low &= mask;
            with[i].low &= mask;
            start[i % cells].low &= mask;
        }
    }
    for (const std::string& space : spaces) {
        std::vector<Word> now = start, old(lanes);
        for (size_t lane = 0; lane < lanes; ++lane) {
            old[lane] = now[lane % cells];
            now[lane % cells] = f(old[lane], b[lane], with[lane]);
        }
        Case named = c;
        const std::string where = space == "generic" || space == "generic shared" ? "" : "." + space;
        named.spelling.replace(named.spelling.find('@'), 1, where);
        const Outcome outcome = run_case(named, space, start, b, with);
        INFO(named.spelling << " in " << space);
        CHECK(outcome.cells == now);
        if (c.returns) CHECK(outcome.old == old);
    }
}

const std::vector<std::string> every_space = {"global", "shared", "generic", "generic shared"};
const std::vector<uint64_t> integers = {0,
                                        1,
                                        2,
                                        7,
                                        0x7fff'ffff,
                                        0x8000'0000,
                                        0xffff'ffff,
                                        0x7fff'ffff'ffff'ffff,
                                        0x8000'0000'0000'0000,
                                        0xffff'ffff'ffff'ffff,
                                        0x1234'5678'9abc'def0,
                                        1000};

// A double as a float of `digits` binary digits with exponents from `lowest` (of subnormals' last digit) on, rounded to
// nearest, ties to even; the double holds the exact value.
double rounded(double value, int digits, int last_digit, double largest) {
    if (value == 0 || std::isnan(value) || std::isinf(value)) return value;
    int exponent;
    std::frexp(value, &exponent);
    const int unit = std::max(exponent - digits, last_digit);
    const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    return std::fabs(result) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : result;
}

struct Format {  // a float of fewer digits than a double's
    int exponent_bits, fraction_bits;
    double decode(uint64_t bits) const {
        const int bias = (1 << (exponent_bits - 1)) - 1;
        const auto fraction = static_cast<double>(bits & ((1u << fraction_bits) - 1));
        const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
        const double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1.0 : 1.0;
        if (exponent == (1 << exponent_bits) - 1)
            return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
        if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
        return sign * std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent - bias);
    }
    uint64_t encode(double exact, uint64_t nan) const {
        if (std::isnan(exact)) return nan;
        const int bias = (1 << (exponent_bits - 1)) - 1;
        const int last = 1 - bias - fraction_bits;
        const double largest = std::ldexp(2 - std::ldexp(1, -fraction_bits), bias);
        const double value = std::fabs(rounded(exact, fraction_bits + 1, last, largest));
        const uint64_t sign = std::signbit(exact) ? uint64_t{1} << (exponent_bits + fraction_bits) : 0;
        if (std::isinf(value)) return sign | ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
        if (value < std::ldexp(1, 1 - bias)) return sign | static_cast<uint64_t>(std::ldexp(value, -last));
        int exponent;
        const double mantissa = std::frexp(value, &exponent);
        return sign | static_cast<uint64_t>(exponent - 1 + bias) << fraction_bits |
               static_cast<uint64_t>(std::ldexp(mantissa * 2 - 1, fraction_bits));
    }
};
constexpr Format half{5, 10}, brain{8, 7};

const std::vector<uint64_t> halves = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3c01, 0x0001, 0x8001, 0x03ff, 0x0400,
                                      0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x1400, 0x5555, 0x2e66, 0xb266};
const std::vector<uint64_t> brains = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f81, 0x0001, 0x8001, 0x007f, 0x0080,
                                      0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x3b80, 0x4555, 0x3dcd, 0xbe4d};

uint64_t half_result(const std::string& operation, const Format& format, uint64_t x, uint64_t y) {
    const double a = format.decode(x), b = format.decode(y);
    if (operation == "add") return format.encode(a + b, 0x7fff);
    if (std::isnan(a) && std::isnan(b)) return 0x7fff;
    if (std::isnan(a)) return y;
    if (std::isnan(b)) return x;
    const bool zeros = a == 0 && b == 0;
    const bool first_less = zeros ? std::signbit(a) >= std::signbit(b) : a < b;
    return (operation == "min") == first_less ? x : y;
}

float f32_of(uint64_t bits) {
    float value;
    const auto word = static_cast<uint32_t>(bits);
    std::memcpy(&value, &word, 4);
    return value;
}

}  // namespace

TEST_CASE("integer atomics do in every space what a loop over the lanes does") {
    struct Row {
        const char* operation;
        const char* type;
        uint32_t bytes;
        Definition f;
    };
    const auto s32 = [](Word w) { return static_cast<int32_t>(w.low); };
    const auto s64 = [](Word w) { return static_cast<int64_t>(w.low); };
    const auto u32 = [](uint64_t v) { return Word{v & 0xffffffffu, 0}; };
    const Row rows[] = {
        {"add", "u32", 4, [&](Word a, Word b, Word) { return u32(a.low + b.low); }},
        {"add", "s32", 4, [&](Word a, Word b, Word) { return u32(a.low + b.low); }},
        {"add", "u64", 8,
         [&](Word a, Word b, Word) {
             return Word{a.low + b.low, 0};
         }},
        {"add", "s64", 8,
         [&](Word a, Word b, Word) {
             return Word{a.low + b.low, 0};
         }},
        {"min", "u32", 4, [&](Word a, Word b, Word) { return a.low < b.low ? a : b; }},
        {"min", "s32", 4, [&](Word a, Word b, Word) { return s32(a) < s32(b) ? a : b; }},
        {"min", "u64", 8, [&](Word a, Word b, Word) { return a.low < b.low ? a : b; }},
        {"min", "s64", 8, [&](Word a, Word b, Word) { return s64(a) < s64(b) ? a : b; }},
        {"max", "u32", 4, [&](Word a, Word b, Word) { return a.low > b.low ? a : b; }},
        {"max", "s32", 4, [&](Word a, Word b, Word) { return s32(a) > s32(b) ? a : b; }},
        {"max", "u64", 8, [&](Word a, Word b, Word) { return a.low > b.low ? a : b; }},
        {"max", "s64", 8, [&](Word a, Word b, Word) { return s64(a) > s64(b) ? a : b; }},
        {"inc", "u32", 4,
         [&](Word a, Word b, Word) {
             return a.low >= b.low ? Word{} : Word{a.low + 1, 0};
         }},
        {"dec", "u32", 4,
         [&](Word a, Word b, Word) {
             return a.low == 0 || a.low > b.low ? b : Word{a.low - 1, 0};
         }},
        {"and", "b32", 4,
         [&](Word a, Word b, Word) {
             return Word{a.low & b.low, 0};
         }},
        {"and", "b64", 8,
         [&](Word a, Word b, Word) {
             return Word{a.low & b.low, 0};
         }},
        {"or", "b32", 4,
         [&](Word a, Word b, Word) {
             return Word{a.low | b.low, 0};
         }},
        {"or", "b64", 8,
         [&](Word a, Word b, Word) {
             return Word{a.low | b.low, 0};
         }},
        {"xor", "b32", 4,
         [&](Word a, Word b, Word) {
             return Word{a.low ^ b.low, 0};
         }},
        {"xor", "b64", 8,
         [&](Word a, Word b, Word) {
             return Word{a.low ^ b.low, 0};
         }},
    };
    for (const Row& row : rows) {
        const std::string tail = std::string(".") + row.operation + "." + row.type;
        check_case({"atom@" + tail, row.bytes}, integers, row.f, every_space);
        check_case({"red@" + tail, row.bytes, false}, integers, row.f, every_space);
    }
}

TEST_CASE("exchange and compare-and-swap take 2 to 16 bytes") {
    const auto second = [](Word, Word b, Word) { return b; };
    const auto swap = [](Word old, Word b, Word c) { return old == b ? c : old; };
    for (const uint32_t bytes : {4u, 8u, 16u})
        check_case({"atom@.exch.b" + std::to_string(8 * bytes), bytes}, integers, second, every_space);
    for (const uint32_t bytes : {2u, 4u, 8u, 16u})
        check_case({"atom@.cas.b" + std::to_string(8 * bytes), bytes, true, true}, {3, 4, 3, 5}, swap, every_space);
    check_case({"atom.relaxed.gpu@.cas.b16", 2, true, true}, {3, 4, 3, 5}, swap, every_space);
}

TEST_CASE("float atomics round to nearest; f32 flushes subnormals in global memory alone") {
    const std::vector<uint64_t> floats = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001,
                                          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
                                          0x7f800000, 0x33800000, 0x4b800001, 0x3dcccccd};
    const auto add = [](bool flush) {
        return [flush](Word a, Word b, Word) {
            const auto zero = [&](float v) {
                return flush && std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
            };
            // The sum of two floats is exact in a double up to a rounding that never hits a tie of floats wrongly.
            const float sum = zero(static_cast<float>(static_cast<double>(zero(f32_of(a.low))) + zero(f32_of(b.low))));
            uint32_t bits;
            std::memcpy(&bits, &sum, 4);
            return Word{std::isnan(sum) ? 0x7fffffffu : bits, 0};
        };
    };
    for (const char* name : {"atom@.add.f32", "red@.add.f32"}) {
        check_case({name, 4, name[0] == 'a'}, floats, add(true), {"global", "generic"});
        check_case({name, 4, name[0] == 'a'}, floats, add(false), {"shared", "generic shared"});
    }
    const std::vector<uint64_t> doubles = {0,
                                           0x8000000000000000,
                                           0x3ff0000000000000,
                                           0x0000000000000001,
                                           0x7fefffffffffffff,
                                           0x7ff0000000000000,
                                           0xfff0000000000000,
                                           0x3fb999999999999a,
                                           0xbca0000000000000};
    check_case(
        {"atom@.add.f64", 8}, doubles,
        [](Word a, Word b, Word) {
            double x, y;
            std::memcpy(&x, &a.low, 8);
            std::memcpy(&y, &b.low, 8);
            const double sum = x + y;
            Word out;
            std::memcpy(&out.low, &sum, 8);
            return std::isnan(sum) ? Word{0xfff8000000000000, 0} : out;
        },
        every_space);
}

TEST_CASE("half and bfloat atomics add alone and in pairs, and keep subnormals") {
    for (const bool is_brain : {false, true}) {
        const Format& format = is_brain ? brain : half;
        const auto& edges = is_brain ? brains : halves;
        const std::string type = is_brain ? "bf16" : "f16";
        const auto one = [&](Word a, Word b, Word) { return Word{half_result("add", format, a.low, b.low), 0}; };
        const auto two = [&](Word a, Word b, Word) {
            return Word{half_result("add", format, a.low & 0xffff, b.low & 0xffff) |
                            half_result("add", format, a.low >> 16, b.low >> 16) << 16,
                        0};
        };
        std::vector<uint64_t> pairs;
        for (size_t i = 0; i < edges.size(); ++i) pairs.push_back(edges[i] | edges[(i * 5 + 2) % edges.size()] << 16);
        check_case({"atom@.add.noftz." + type, 2}, edges, one, every_space);
        check_case({"red@.add.noftz." + type, 2, false}, edges, one, every_space);
        check_case({"atom@.add.noftz." + type + "x2", 4}, pairs, two, every_space);
        check_case({"red@.add.noftz." + type + "x2", 4, false}, pairs, two, every_space);
    }
}

TEST_CASE("atomics on vectors treat each element on its own") {
    Memory memory;
    std::vector<float> start = {1, 2, 3, 4}, add(lanes * 4);
    for (size_t i = 0; i < add.size(); ++i) add[i] = static_cast<float>(i) * 0.25f;
    const uint64_t at = put(memory, start, "cells"), values = put(memory, add, "values");
    const uint64_t out = memory.allocate(lanes * 16, "old");
    const auto program =
        program_of(kernel("mul.wide.u32 %rd3, %r0, 16;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
                          "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd4];\n"
                          "atom.relaxed.gpu.global.add.v4.f32 {%f4, %f5, %f6, %f7}, [%rd0], {%f0, %f1, %f2, %f3};\n"
                          "st.global.v4.f32 [%rd5], {%f4, %f5, %f6, %f7};\n"
                          "red.global.add.v2.f32 [%rd0], {%f0, %f1};\n"));
    REQUIRE(!launch(*program, config_of({1}, {lanes}, {at, values, out}), memory).fault);
    std::vector<float> now = start, old(lanes * 4);
    for (size_t lane = 0; lane < lanes; ++lane)
        for (size_t k = 0; k < 4; ++k) {
            old[lane * 4 + k] = now[k];
            now[k] += add[lane * 4 + k];
        }
    for (size_t lane = 0; lane < lanes; ++lane)
        for (size_t k = 0; k < 2; ++k) now[k] += add[lane * 4 + k];
    CHECK(read_back<float>(memory, at, 4) == now);
    CHECK(read_back<float>(memory, out, lanes * 4) == old);
}

TEST_CASE("vectors of eight halves add, and take the smaller and the larger, past NaN") {
    for (const bool is_brain : {false, true}) {
        const Format& format = is_brain ? brain : half;
        const auto& edges = is_brain ? brains : halves;
        for (const std::string operation : {"add", "min", "max"}) {
            Memory memory;
            std::vector<uint16_t> start(8), values(lanes * 8);
            for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(edges[i * 5 % edges.size()]);
            for (size_t i = 0; i < 8; ++i) start[i] = static_cast<uint16_t>(edges[(i * 3 + 1) % edges.size()]);
            const uint64_t at = put(memory, start, "cells"), from = put(memory, values, "values");
            const uint64_t out = memory.allocate(lanes * 16, "old");
            const std::string list = "{%rs0, %rs1, %rs2, %rs3, %rs4, %rs5, %rs6, %rs7}";
            std::string body = "mul.wide.u32 %rd3, %r0, 16;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n";
            for (int k = 0; k < 8; ++k)
                body += "ld.global.b16 %rs" + std::to_string(k) + ", [%rd4+" + std::to_string(2 * k) + "];\n";
            // The old values land in the registers that held the operands.
            body += "atom.global." + operation + ".noftz.v8." + (is_brain ? "bf16 " : "f16 ") + list + ", [%rd0], " + list +
                    ";\n";
            for (int k = 0; k < 8; ++k)
                body += "st.global.b16 [%rd5+" + std::to_string(2 * k) + "], %rs" + std::to_string(k) + ";\n";
            REQUIRE(!launch(*program_of(kernel(body)), config_of({1}, {lanes}, {at, from, out}), memory).fault);
            std::vector<uint16_t> now = start, old(lanes * 8);
            for (size_t i = 0; i < old.size(); ++i) {
                old[i] = now[i % 8];
                now[i % 8] = static_cast<uint16_t>(half_result(operation, format, old[i], values[i]));
            }
            INFO(operation << (is_brain ? " bf16" : " f16"));
            CHECK(read_back<uint16_t>(memory, at, 8) == now);
            CHECK(read_back<uint16_t>(memory, out, lanes * 8) == old);
        }
    }
}

TEST_CASE("loads and stores move 1 to 32 bytes a lane, in every spelling, and leave the rest alone") {
    struct Row {
        const char* load;
        const char* store;
        const char* registers;
        uint32_t bytes;
    };
    const Row rows[] = {
        {"ld.global.b8", "st.global.b8", "%rs0", 1},
        {"ld.u16", "st.u16", "%r1", 2},
        {"ld.volatile.global.b32", "st.volatile.global.b32", "%r1", 4},
        {"ld.relaxed.gpu.global.b64", "st.relaxed.gpu.global.b64", "%rd5", 8},
        {"ld.acquire.sys.b32", "st.release.sys.b32", "%r1", 4},
        {"ld.acquire.cta.global.L1::evict_last.L2::evict_first.b32", "st.release.cluster.global.L1::evict_last.b32", "%r1",
         4},
        {"ld.mmio.relaxed.sys.global.u32", "st.mmio.relaxed.sys.global.u32", "%r1", 4},
        {"ld.weak.global.ca.b32", "st.weak.global.wb.b32", "%r1", 4},
        {"ld.global.cv.v2.b32", "st.global.wt.v2.b32", "{%r1, %r2}", 8},
        {"ld.global.cs.nc.b32", "st.global.cs.b32", "%r1", 4},
        {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32", "st.global.L1::no_allocate.v4.f32", "{%f0, %f1, %f2, %f3}", 16},
        {"ld.global.nc.L1::evict_unchanged.L2::evict_last.L2::256B.v2.u64", "st.global.L2::evict_normal.v2.u64",
         "{%rd5, %rd6}", 16},
        {"ld.global.L2::64B.v4.b8", "st.global.cg.v4.b8", "{%rs0, %rs1, %rs2, %rs3}", 4},
        {"ldu.global.v2.u32", "st.v2.u32", "{%r1, %r2}", 8},
        {"ld.global.b128", "st.global.b128", "%q0", 16},
        {"ld.b128", "st.b128", "%q1", 16},
        {"ld.global.v8.b32", "st.global.v8.b32", "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}", 32},
        {"ld.global.nc.v8.f32", "st.global.v8.f32", "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}", 32},
        {"ld.global.L1::evict_last.L2::evict_last.v4.b64", "st.global.v4.b64", "{%rd5, %rd6, %rd7, %rd8}", 32},
    };
    for (const Row& row : rows) {
        Memory memory;
        std::vector<uint8_t> in(lanes * row.bytes);
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 37 + 11);
        const std::vector<uint8_t> poison((lanes + 1) * row.bytes, 0xcd);
        const uint64_t from = put(memory, in, "in"), to = put(memory, poison, "out");
        const std::string size = std::to_string(row.bytes);
        const auto program = program_of(kernel("mul.wide.u32 %rd3, %r0, " + size + ";\nadd.s64 %rd4, %rd0, %rd3;\n" +
                                               row.load + " " + row.registers + ", [%rd4];\nadd.s64 %rd4, %rd1, %rd3;\n" +
                                               row.store + " [%rd4], " + row.registers + ";\n"));
        const LaunchResult result = launch(*program, config_of({1}, {lanes}, {from, to, 0}), memory);
        INFO(row.load);
        REQUIRE(!result.fault);
        std::vector<uint8_t> expected = in;
        expected.resize(poison.size(), 0xcd);
        CHECK(read_back<uint8_t>(memory, to, poison.size()) == expected);
    }
}

TEST_CASE("cache policies, hints, banks and .unified change nothing that is read") {
    Memory memory;
    const uint64_t in = put(memory, std::vector<uint32_t>{5, 6, 7, 8}, "in"), out = memory.allocate(64, "out");
    const auto program = program_of(
        ".version 8.8\n.target sm_90\n.address_size 64\n.const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "ld.param::entry.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n"
        "createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;\n"
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd4;\n"
        "createpolicy.range.global.L2::evict_last.b64 %rd5, [%rd1], 1024, 4096;\n"
        "prefetch.global.L2 [%rd1];\nprefetch.global.L2::evict_last [%rd1+64];\nprefetchu.L1 [%rd1];\nprefetch.L1 [0];\n"
        "applypriority.global.L2::evict_normal [%rd1], 128;\n"
        "ld.global.L1::evict_last.L2::cache_hint.u32 %r1, [%rd1], %rd3;\n"
        "ld.global.L2::cache_hint.L2::128B.v2.u32 {%r2, %r3}, [%rd1+8], %rd4;\n"
        "ld.global.u32 %r4, [%rd1+4].unified;\n"
        "ld.const[0].u32 %r5, [table+4];\n"
        "st.global.L2::cache_hint.v4.u32 [%rd2], {%r1, %r4, %r2, %r3}, %rd5;\n"
        "st.global.u32 [%rd2+16], %r5;\n"
        "red.global.add.L2::cache_hint.u32 [%rd2+20], 1, %rd3;\n"
        "atom.acq_rel.gpu.global.add.L2::cache_hint.u32 %r6, [%rd2+24], 2, %rd3;\nret;\n}\n");
    REQUIRE(!launch(*program, config_of({1}, {1}, {in, out, 0}), memory).fault);
    CHECK(read_back<uint32_t>(memory, out, 7) == std::vector<uint32_t>{5, 6, 7, 8, 0x08070605, 1, 2});
}

TEST_CASE("halves of a 128-bit register come apart and together, in some lanes alone") {
    Memory memory;
    std::vector<uint64_t> in(lanes * 2);
    for (size_t i = 0; i < in.size(); ++i) in[i] = i * 0x0101010101010101ull;
    const uint64_t from = put(memory, in, "in"), to = memory.allocate(lanes * 16, "out");
    const auto program =
        program_of(kernel("mul.wide.u32 %rd3, %r0, 16;\nadd.s64 %rd4, %rd0, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n"
                          "ld.global.b128 %q0, [%rd4];\nmov.b128 {%rd6, %rd7}, %q0;\nmov.b128 %q1, %q0;\n"
                          "setp.lt.u32 %p1, %r0, 7;\n@%p1 mov.b128 %q1, {%rd7, %rd6};\nst.global.b128 [%rd5], %q1;\n"));
    REQUIRE(!launch(*program, config_of({1}, {lanes}, {from, to, 0}), memory).fault);
    for (size_t lane = 0; lane < 7; ++lane) std::swap(in[lane * 2], in[lane * 2 + 1]);
    CHECK(read_back<uint64_t>(memory, to, lanes * 2) == in);
}

TEST_CASE("wide accesses off their alignment or end are faults with a reason") {
    Memory memory;
    const uint64_t at = memory.allocate(100, "a");
    const auto fault = [&](const std::string& body) {
        const auto result = launch(*program_of(kernel(body)), config_of({1}, {1}, {at, 0, 0}), memory);
        return result.fault ? result.fault->message : "none";
    };
    CHECK(fault("ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd0+16];") ==
          "misaligned global read of 32 bytes, the address is not a multiple of 32: it is 16 bytes behind argument 1");
    CHECK(fault("ld.global.b128 %q0, [%rd0+96];") ==
          "invalid global read of 16 bytes that reaches 12 bytes past the end of 'a' (100 bytes): a[6] of 6 elements");
    CHECK(fault("atom.global.cas.b128 %q0, [%rd0+8], %q1, %q2;") ==
          "misaligned global atomic of 16 bytes, the address is not a multiple of 16: it is 8 bytes behind argument 1");
    CHECK(fault("red.global.add.v4.f32 [%rd0+96], {%f0, %f1, %f2, %f3};") ==
          "invalid global atomic of 16 bytes that reaches 12 bytes past the end of 'a' (100 bytes): a[6] of 6 elements");
}

TEST_CASE("what no GPU has is refused in words") {
    const auto refused = [](const std::string& body) { return refusal_of(kernel(body)); };
    CHECK(refused("ld.shared.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r0];") ==
          "'ld.shared.v8.b32' would move more than 16 bytes a lane");
    CHECK(refused("ld.global.v8.b16 {%rs1, %rs2, %rs3, %rs4, %rs5, %rs6, %rs7, %rs8}, [%rd0];") ==
          "'ld.global.v8.b16': there is no such vector");
    CHECK(refused("ld.shared.nc.b32 %r1, [%r0];") == "'ld.shared.nc.b32': .nc is for .global memory");
    CHECK(refused("red.shared.add.v2.f32 [%r0], {%f0, %f1};") ==
          "'red.shared.add.v2.f32': atomics on vectors work on .global memory");
    CHECK(refused("ld.global.L1::evict_never.b32 %r1, [%rd0];").starts_with("unknown form"));
    CHECK(refused("ld.global.L2::cache_hint.b32 %r1, [%rd0];") == "'ld.global.L2::cache_hint.b32' takes 3 operands, not 2");
    CHECK(refused("multimem.ld_reduce.global.min.f32 %f0, [%rd0];").starts_with("unknown form"));
}

}  // namespace simt_atomic_test
