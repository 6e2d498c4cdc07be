// The machine at a warp and at one of its lanes: masks, bits and values are those of the run, what is explained step by step
// is what the executor computes, no request's dot arrives before the request, and all of it reads at any size.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "app/gui/views/machine/lane_bits.h"
#include "app/gui/views/machine/lane_number.h"
#include "core/base/rng.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace gui_machine_lane_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

std::shared_ptr<const ptx::Program> program_of(const std::string& statement) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 "
        "%r<4>;\n.reg .b64 %q<4>;\n" +
        statement + ";\nret;\n}\n";
    const auto module = ptx::parse(text, "test.ptx");
    if (!module) FAIL(statement << ": " << module.error().message);
    const auto program = ptx::decode(module.value(), "k");
    if (!program) FAIL(statement << ": " << program.error().message);
    return program.value();
}

// Of every kind: zeros, ones, subnormals, infinities, NaNs, halves of last places, neighbours of powers of two, and any.
uint64_t operand_of(Rng& rng, int width) {
    static constexpr uint64_t singles[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0xbf800000,
                                           0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f800001, 0x33800000,
                                           0x4b000001, 0x4b800001, 0x00400000, 0x3fc00000, 0x477fefff, 0x477ff000, 0x387fe000};
    const auto as_width = [&](uint32_t f) -> uint64_t {
        const float x = std::bit_cast<float>(f);
        if (width == 64) return rng.below(2) ? std::bit_cast<uint64_t>(static_cast<double>(x)) : uint64_t{f} << 32 | rng.below(2);
        return width == 16 ? f >> (rng.below(2) ? 16 : 13) & 0xffff : f;
    };
    switch (rng.below(6)) {
        case 0:
            return as_width(static_cast<uint32_t>(singles[rng.below(std::size(singles))]));
        case 1:  // near in size, with few bits: ties
            return as_width(std::bit_cast<uint32_t>(std::ldexp(static_cast<float>(1 + rng.below(64)), static_cast<int>(rng.below(50)) - 25)));
        case 2: {  // close to one
            const uint64_t one = width == 64 ? 0x3ff0000000000000ull : width == 32 ? 0x3f800000u : rng.below(2) ? 0x3c00 : 0x3f80;
            return one + (rng.next() & 7) - 3 + (rng.below(3) == 0 ? uint64_t{1} << (width - 1) : 0);
        }
        case 3:  // small whole numbers, either sign
            return static_cast<uint64_t>(static_cast<int64_t>(rng.below(200)) - 100);
        case 4:  // subnormal or small
            return rng.next() & (width == 64 ? 0x801fffffffffffffull : width == 32 ? 0x80ffffffu : 0x87ffu);
        default:
            return rng.next();
    }
}

uint64_t cut(uint64_t bits, ptx::Type type) {
    if (type == ptx::Type::pred) return bits & 1;
    const auto width = 8 * ptx::size_of(type);
    return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

std::vector<simt::LaneValues> random_lanes(const ptx::Program& program, Rng& rng) {
    std::vector<simt::LaneValues> lanes;
    for (const ptx::Register& reg : program.registers) {
        simt::LaneValues values;
        values.reg = reg;
        const int width = reg.type == ptx::Type::pred ? 1 : static_cast<int>(8 * ptx::size_of(reg.type));
        for (uint64_t& bits : values.bits) bits = cut(width == 1 ? rng.next() : operand_of(rng, width), reg.type);
        lanes.push_back(values);
    }
    return lanes;
}

void same_as_executor(const std::string& statement, int operands) {
    INFO(statement);
    const auto program = program_of(statement);
    Rng rng(std::hash<std::string>{}(statement) % 1000 + 1);
    for (int done = 0; done < operands; done += 32) {
        const std::vector<simt::LaneValues> before = random_lanes(*program, rng);
        const auto results = executed(*program, 0, before);
        REQUIRE(results);
        const Operation operation = operation_in(*program, 0);
        for (int lane = 0; lane < 32; ++lane) {
            const auto a = arithmetic_of(*program, 0, before, lane);
            REQUIRE(a);
            const Explained e = explain(operation, a->sources);
            INFO("lane " << lane << ": " << std::hex << a->sources[0].bits << " "
                         << (a->sources.size() > 1 ? a->sources[1].bits : 0) << " "
                         << (a->sources.size() > 2 ? a->sources[2].bits : 0) << " explained " << e.bits << " executed "
                         << a->result.bits);
            REQUIRE(e.known);
            REQUIRE(cut(e.bits, a->result.type) == cut(a->result.bits, a->result.type));
            REQUIRE(a->result.bits == (*results)[static_cast<size_t>(lane)]);
            REQUIRE_FALSE(a->steps.empty());
            for (const ArithmeticStep& step : a->steps) REQUIRE_FALSE(step.how.empty());
        }
    }
}

}  // namespace

TEST_CASE("The float arithmetic that a lane explains is the executor's, to the last bit") {
    for (const std::string statement :
         {"fma.rn.f32 %r0, %r1, %r2, %r3", "add.f32 %r0, %r1, %r2", "sub.f32 %r0, %r1, %r2", "mul.f32 %r0, %r1, %r2",
          "fma.rn.f64 %q0, %q1, %q2, %q3", "add.f64 %q0, %q1, %q2", "sub.f64 %q0, %q1, %q2", "mul.f64 %q0, %q1, %q2",
          "fma.rn.f16 %h0, %h1, %h2, %h3", "add.f16 %h0, %h1, %h2", "sub.f16 %h0, %h1, %h2", "mul.f16 %h0, %h1, %h2",
          "fma.rn.bf16 %h0, %h1, %h2, %h3", "add.bf16 %h0, %h1, %h2", "sub.bf16 %h0, %h1, %h2", "mul.bf16 %h0, %h1, %h2"})
        same_as_executor(statement, 10'000);
    for (const std::string rounding : {".rz", ".rm", ".rp"})
        for (const std::string width : {"32 %r", "64 %q"}) {
            const std::string type = ".f" + width.substr(0, 2) + " ", r = width.substr(3);
            same_as_executor("add" + rounding + type + r + "0, " + r + "1, " + r + "2", 3'000);
            same_as_executor("mul" + rounding + type + r + "0, " + r + "1, " + r + "2", 3'000);
            same_as_executor("fma" + rounding + type + r + "0, " + r + "1, " + r + "2, " + r + "3", 3'000);
        }
    for (const std::string more : {".ftz", ".sat", ".ftz.sat"}) {
        same_as_executor("fma.rn" + more + ".f32 %r0, %r1, %r2, %r3", 3'000);
        same_as_executor("add" + more + ".f32 %r0, %r1, %r2", 3'000);
        same_as_executor("mul" + more + ".f32 %r0, %r1, %r2", 3'000);
        same_as_executor("fma.rn" + more + ".f16 %h0, %h1, %h2, %h3", 3'000);
        same_as_executor("add" + more + ".f16 %h0, %h1, %h2", 3'000);
    }
}

TEST_CASE("The conversions that a lane explains are the executor's, to the last bit") {
    const auto reg = [](const std::string& type) {
        const std::string bits = type.substr(type.find_first_of("0123456789"));
        return bits == "64" ? "%q" : bits == "32" ? "%r" : "%h";
    };
    const std::vector<std::string> floats = {"f16", "bf16", "f32", "f64"}, integers = {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
    for (const std::string& to : floats)
        for (const std::string& from : floats) {
            if (from == to || (to == "bf16" && from == "f16")) continue;
            const bool narrows = (to != "f64" && from == "f64") || (from == "f32" && to != "f64") || (from == "bf16" && to == "f16");
            for (const std::string& rounding : narrows ? std::vector<std::string>{".rn", ".rz"} : std::vector<std::string>{""})
                same_as_executor("cvt" + rounding + "." + to + "." + from + " " + reg(to) + "0, " + reg(from) + "1", 10'000);
        }
    for (const std::string& f : floats)
        for (const std::string& i : integers) {
            for (const std::string rounding : {".rn", ".rz", ".rm", ".rp"})
                same_as_executor("cvt" + rounding + "." + f + "." + i + " " + reg(f) + "0, " + reg(i) + "1", 2'500);
            for (const std::string rounding : {".rni", ".rzi", ".rmi", ".rpi"})
                same_as_executor("cvt" + rounding + "." + i + "." + f + " " + reg(i) + "0, " + reg(f) + "1", 2'500);
        }
    for (const std::string& to : integers)
        for (const std::string& from : integers)
            for (const std::string more : {"", ".sat"})
                same_as_executor("cvt" + more + "." + to + "." + from + " " + reg(to) + "0, " + reg(from) + "1", 1'000);
}

TEST_CASE("The integer arithmetic, shifts, logic and comparisons that a lane explains are the executor's") {
    const std::pair<std::string, std::string> widths[] = {{"16", "%h"}, {"32", "%r"}, {"64", "%q"}};
    for (const auto& [bits, r] : widths) {
        const std::string two = " " + r + "0, " + r + "1, " + r + "2", three = two + ", " + r + "3";
        for (const std::string sign : {".s", ".u"}) {
            const std::string type = sign + bits;
            for (const std::string name : {"add", "sub", "min", "max", "mul.lo", "mul.hi"}) same_as_executor(name + type + two, 10'000);
            for (const std::string name : {"mad.lo", "mad.hi"}) same_as_executor(name + type + three, 10'000);
            same_as_executor("shr" + type + " " + r + "0, " + r + "1, %r2", 10'000);
            if (bits != "64") {
                const std::string wide = bits == "16" ? "%r" : "%q";
                same_as_executor("mul.wide" + type + " " + wide + "0, " + r + "1, " + r + "2", 10'000);
                same_as_executor("mad.wide" + type + " " + wide + "0, " + r + "1, " + r + "2, " + wide + "3", 10'000);
            }
            for (const std::string name : {".eq", ".ne", ".lt", ".le", ".gt", ".ge"})
                same_as_executor("setp" + name + type + " %p0, " + r + "1, " + r + "2", 2'000);
        }
        for (const std::string name : {"and", "or", "xor"}) same_as_executor(name + ".b" + bits + two, 10'000);
        same_as_executor("not.b" + bits + " " + r + "0, " + r + "1", 10'000);
        same_as_executor("shl.b" + bits + " " + r + "0, " + r + "1, %r2", 10'000);
    }
    for (const std::string name : {"and", "or", "xor"}) same_as_executor(name + ".pred %p0, %p1, %p2", 1'000);
    same_as_executor("not.pred %p0, %p1", 1'000);
    same_as_executor("add.sat.s32 %r0, %r1, %r2", 10'000);
    same_as_executor("add.s32 %r0, %r1, 7", 1'000);
    same_as_executor("shl.b32 %r0, %r1, 2", 1'000);
    same_as_executor("fma.rn.f32 %r0, %r1, 0f3FC00000, %r3", 1'000);
    for (const std::string type : {".f32 %p0, %r1, %r2", ".f64 %p0, %q1, %q2", ".f16 %p0, %h1, %h2", ".bf16 %p0, %h1, %h2"})
        for (const std::string name :
             {".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".equ", ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"})
            same_as_executor("setp" + name + type, 2'000);
}

TEST_CASE("The bits of a value are drawn as it has them, and its parts make the number") {
    Rng rng(5);
    for (const ptx::Type type : {ptx::Type::f16, ptx::Type::bf16, ptx::Type::f32, ptx::Type::f64, ptx::Type::s32, ptx::Type::u64,
                                 ptx::Type::b16, ptx::Type::f16x2, ptx::Type::pred})
        for (int k = 0; k < 2'000; ++k) {
            const uint64_t bits = cut(operand_of(rng, 64), type);
            const std::vector<BitCell> cells = bit_cells(bits, type);
            REQUIRE(cells.size() == static_cast<size_t>(width_of(type)));
            uint64_t again = 0;
            for (const BitCell& cell : cells) again = again << 1 | (cell.set ? 1 : 0);
            REQUIRE(again == bits);
            const auto shape = float_shape(type);
            if (!shape) continue;
            CHECK(std::count_if(cells.begin(), cells.end(), [](const BitCell& c) { return c.part == BitPart::exponent; }) ==
                  shape->exponent_bits());
            const FloatParts p = parts_of(bits, *shape);
            if (p.nan) {
                CHECK(number_text(bits, type) == "NaN");
                continue;
            }
            const double value = (p.negative ? -1 : 1) * (p.infinite ? INFINITY : std::ldexp(static_cast<double>(p.significand), p.unit));
            if (type == ptx::Type::f64) CHECK(std::bit_cast<uint64_t>(value) == bits);
            if (type == ptx::Type::f32) CHECK(std::bit_cast<uint32_t>(static_cast<float>(value)) == bits);
            if (!p.infinite && !p.zero()) {
                CHECK(p.lead() >= 1);
                CHECK(p.lead() < 2);
                CHECK(std::ldexp(p.lead(), p.exponent()) == std::fabs(value));
                CHECK(round_to(Exact::of(p), *shape, Rounding::nearest).bits == bits);  // what fits stays as it is
            }
        }
    CHECK(number_text(0x3dcccccd, ptx::Type::f32) == "0.1");
    CHECK(number_text(0xbf700000, ptx::Type::f32) == "-0.9375");
    CHECK(number_text(0x3c00, ptx::Type::f16) == "1");
    CHECK(number_text(0xfffffffe, ptx::Type::s32) == "-2");
    CHECK(parts_text(0xbfc00000, ptx::Type::f32) == "− 1.5 × 2^0");
}

TEST_CASE("A product is explained by its signs, exponents and fractions") {
    const Operation mul{"mul", {".f32"}, ptx::Type::f32, ptx::Type::f32};
    const LaneValue sources[] = {{"%f1", ptx::Type::f32, std::bit_cast<uint32_t>(0.625f)},
                                 {"%f2", ptx::Type::f32, std::bit_cast<uint32_t>(-1.5f)}};
    const Explained e = explain(mul, sources);
    REQUIRE(e.known);
    CHECK(std::bit_cast<float>(static_cast<uint32_t>(e.bits)) == -0.9375f);
    const auto says = [&](const std::string& what) {
        for (const ArithmeticStep& step : e.steps)
            if (step.what == what) return step.how;
        return std::string("nothing");
    };
    CHECK(says("exponents add") == "-1 + 0 = -1");
    CHECK(says("fractions multiply") == "1.25 × 1.5 = 1.875");
    CHECK(says("rounding") == "none: it fits in 24 bits");
}

}  // namespace gui_machine_lane_test
