// The machine at a warp and at one of its lanes: masks, bits and values are those of the run, what is explained step by step
// is what the executor computes, no request's dot arrives before the request, and all of it reads at any size.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "app/gui/views/machine/lane/lane_bits.h"
#include "app/gui/views/machine/lane/lane_number.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/sm/lane_paths.h"
#include "core/base/rng.h"
#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "tests/gui/desk.h"

namespace gui_machine_lane_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

std::shared_ptr<const ptx::Program> program_of(const std::string& statement) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg "
        ".b32 "
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
    static constexpr uint64_t singles[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000,
                                           0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                           0x3f800001, 0x33800000, 0x4b000001, 0x4b800001, 0x00400000, 0x3fc00000,
                                           0x477fefff, 0x477ff000, 0x387fe000};
    const auto as_width = [&](uint32_t f) -> uint64_t {
        const float x = std::bit_cast<float>(f);
        if (width == 64)
            return rng.below(2) ? std::bit_cast<uint64_t>(static_cast<double>(x)) : uint64_t{f} << 32 | rng.below(2);
        return width == 16 ? f >> (rng.below(2) ? 16 : 13) & 0xffff : f;
    };
    switch (rng.below(6)) {
        case 0:
            return as_width(static_cast<uint32_t>(singles[rng.below(std::size(singles))]));
        case 1:  // near in size, with few bits: ties
            return as_width(std::bit_cast<uint32_t>(
                std::ldexp(static_cast<float>(1 + rng.below(64)), static_cast<int>(rng.below(50)) - 25)));
        case 2: {  // close to one
            const uint64_t one = width == 64    ? 0x3ff0000000000000ull
                                 : width == 32  ? 0x3f800000u
                                 : rng.below(2) ? 0x3c00
                                                : 0x3f80;
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
            const bool said =
                std::none_of(a->steps.begin(), a->steps.end(), [](const ArithmeticStep& step) { return step.how.empty(); });
            if (e.known && cut(e.bits, a->result.type) == cut(a->result.bits, a->result.type) &&
                a->result.bits == (*results)[static_cast<size_t>(lane)] && !a->steps.empty() && said)
                continue;
            FAIL("lane " << lane << ": " << std::hex << a->sources[0].bits << " "
                         << (a->sources.size() > 1 ? a->sources[1].bits : 0) << " "
                         << (a->sources.size() > 2 ? a->sources[2].bits : 0) << " explained " << e.bits << " executed "
                         << a->result.bits);
        }
    }
}

// Loads, a multiply-add whose result takes the place of a source, two paths of which one takes a double, shared memory.
constexpr std::string_view kernel = R"(
.version 9.0
.target sm_70
.address_size 64
.visible .entry work(.param .u64 a, .param .u64 b)
{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .f32 %f<8>;
.reg .f64 %d<4>;
.reg .b64 %q<8>;
.shared .align 4 .b8 tile[1024];
ld.param.u64 %q1, [a];
ld.param.u64 %q2, [b];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.s32 %r3, %r2, 128, %r1;
mul.wide.s32 %q3, %r3, 8;
add.s64 %q4, %q1, %q3;
ld.global.f32 %f1, [%q4];
ld.global.f32 %f2, [%q4+4];
mov.f32 %f3, 0f3F200000;
fma.rn.f32 %f3, %f1, %f2, %f3;
and.b32 %r4, %r1, 3;
setp.lt.u32 %p1, %r4, 2;
@%p1 bra LOW;
cvt.f64.f32 %d1, %f3;
mul.f64 %d2, %d1, %d1;
cvt.rn.f32.f64 %f3, %d2;
bra.uni JOIN;
LOW:
fma.rn.f32 %f3, %f3, %f3, %f1;
JOIN:
@!%p1 add.f32 %f3, %f3, %f2;
shl.b32 %r5, %r1, 3;
and.b32 %r6, %r5, 1020;
mov.u32 %r7, tile;
add.s32 %r8, %r7, %r6;
st.shared.f32 [%r8], %f3;
bar.sync 0;
ld.shared.f32 %f4, [%r8];
sub.f32 %f5, %f4, %f1;
add.s64 %q5, %q2, %q3;
st.global.f32 [%q5], %f5;
ret;
}
)";

std::shared_ptr<const model::KernelRun> kernel_run(std::string_view gpu) {
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named(gpu).value();
    const auto module = ptx::parse(std::string(kernel), "work.ptx");
    if (!module) FAIL(module.error().message << module.error().source_line);
    const auto program = ptx::decode(module.value(), "work");
    if (!program) FAIL(program.error().message << program.error().source_line);
    run->program = program.value();
    simt::Memory memory;
    const uint64_t bytes = 128 * 24 * 8, a = memory.allocate(bytes, "a"), b = memory.allocate(bytes, "b");
    Rng rng(9);
    std::vector<float> values(bytes / 4);
    for (float& v : values) v = static_cast<float>(rng.below(2000)) / 256 - 3;
    std::memcpy(memory.write(a, bytes), values.data(), bytes);
    run->config.grid = {24, 1, 1};
    run->config.block = {120, 1, 1};
    run->config.parameters.resize(16);
    std::memcpy(run->config.parameters.data(), &a, 8);
    std::memcpy(run->config.parameters.data() + 8, &b, 8);
    run->before = std::make_shared<const simt::Memory>(memory);
    model::TimedOptions options;
    options.machine = true;
    run->result = model::launch(run->gpu, *run->program, run->config, memory, options);
    return run;
}

// The machine at a warp or a lane of it, with the values that a worker would have fetched.
struct LaneDesk : Desk {
    std::shared_ptr<const model::KernelRun> run;
    std::shared_ptr<const simt::WarpHistory> history;
    int32_t warp = 0;

    explicit LaneDesk(std::string_view gpu = "v100", int32_t which = 1) : run(kernel_run(gpu)), warp(which) {
        session.workspace = Workspace::machine;
        session.grain = Grain::cycle;
        const WarpTrack& track = run->result.trace.warps.at(static_cast<size_t>(warp));
        history = std::make_shared<const simt::WarpHistory>(
            simt::record_warp(*run->program, run->config, *run->before, track.block, track.warp_in_block));
        publish(0);
        shell.focus.warp = warp;
    }
    const WarpTrack& track() const { return run->result.trace.warps[static_cast<size_t>(warp)]; }
    std::vector<simt::LaneValues> values(int64_t step) const {
        return simt::registers_at(*run->program, run->config, *run->before, history->block, history->warp_in_block,
                                  static_cast<uint64_t>(step));
    }
    void publish(int64_t step) {
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->kernel.run = run;
        snapshot->kernel.history = history;
        snapshot->kernel.lanes = std::make_shared<const std::vector<simt::LaneValues>>(values(step));
        snapshot->kernel.lanes_step = step;
        session.publish_for_test(snapshot);
        frame();
    }
    void at(int64_t cycle) {
        shell.focus.warp = warp;
        shell.focus.time = cycle;
        frames(2);
        const int64_t step = issues_before(run->result.trace, track(), cycle);
        if (step > 0) publish(step - 1);  // as the clock went over it
        publish(step);
        shell.focus.warp = warp;
        shell.focus.time = cycle;
        frames(2);
    }
    void zoom(Stop stop) {
        zoom_to(session, stop);
        for (int i = 0; i < 200 && session.machine.zoom != session.machine.wanted; ++i) frame();
        frames(2);
    }
};

struct Facts {  // of a frame, without drawing
    Ui ui;
    MachineScene scene;
    KeptLanes kept;
    std::shared_ptr<const Snapshot> snapshot;
    MachineFrame frame;
    Facts(LaneDesk& desk, int64_t cycle)
        : scene(make_machine_scene(desk.run, std::make_shared<const Timeline>(make_timeline(desk.run)))),
          snapshot(desk.session.snapshot()),
          frame{ui, desk.session, desk.shell.focus, *snapshot, &scene, static_cast<double>(cycle), 1, true, {}, &kept} {}
    void keep(const LaneDesk& desk, int64_t step) {
        auto copy = std::make_shared<Snapshot>(*snapshot);
        copy->kernel.lanes = std::make_shared<const std::vector<simt::LaneValues>>(desk.values(step));
        copy->kernel.lanes_step = step;
        kept.adopt(*copy);
    }
};

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
    const std::vector<std::string> floats = {"f16", "bf16", "f32", "f64"},
                                   integers = {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
    for (const std::string& to : floats)
        for (const std::string& from : floats) {
            if (from == to || (to == "bf16" && from == "f16")) continue;
            const bool narrows =
                (to != "f64" && from == "f64") || (from == "f32" && to != "f64") || (from == "bf16" && to == "f16");
            for (const std::string& rounding :
                 narrows ? std::vector<std::string>{".rn", ".rz"} : std::vector<std::string>{""})
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
            for (const std::string name : {"add", "sub", "min", "max", "mul.lo", "mul.hi"})
                same_as_executor(name + type + two, 10'000);
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
    for (const ptx::Type type : {ptx::Type::f16, ptx::Type::bf16, ptx::Type::f32, ptx::Type::f64, ptx::Type::s32,
                                 ptx::Type::u64, ptx::Type::b16, ptx::Type::f16x2, ptx::Type::pred})
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
            const double value =
                (p.negative ? -1 : 1) * (p.infinite ? INFINITY : std::ldexp(static_cast<double>(p.significand), p.unit));
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

TEST_CASE("The lanes of a warp that issues are the trace's, and each has one mark") {
    LaneDesk desk;
    const KernelTrace& trace = desk.run->result.trace;
    int partly = 0, guarded = 0;
    for (const uint32_t i : desk.track().issues) {
        const IssueRecord& issue = trace.issues[i];
        if (issue.folded) continue;
        Facts facts(desk, issue.cycle);
        const WarpNow w = warp_now(facts.frame);
        REQUIRE(w.state.issue != nullptr);
        REQUIRE(w.now != nullptr);
        uint32_t works = 0;
        for (int lane = 0; lane < 32; ++lane) {
            works |= static_cast<uint32_t>(w.marks[static_cast<size_t>(lane)] == LaneMark::works) << lane;
            guarded += w.marks[static_cast<size_t>(lane)] == LaneMark::guarded;
        }
        CHECK(works == w.state.issue->active);
        CHECK(lanes_in(works) == std::popcount(w.state.issue->active));
        partly += works != simt::full_mask && works != 0;
    }
    CHECK(partly > 2);   // two paths were there
    CHECK(guarded > 0);  // and a predicate
}

TEST_CASE("What a lane's instruction leaves, step by step, is what its register holds afterwards") {
    LaneDesk desk;
    const KernelTrace& trace = desk.run->result.trace;
    int explained = 0, replaced = 0;
    for (size_t k = 0; k < desk.track().issues.size(); ++k) {
        const IssueRecord& issue = trace.issues[desk.track().issues[k]];
        if (issue.folded) continue;
        Facts facts(desk, issue.cycle);
        const int64_t step = issues_before(trace, desk.track(), issue.cycle);
        facts.keep(desk, step);
        for (const int lane : {0, 3, 17, 23}) {
            desk.shell.focus.lane = lane;
            const WarpNow w = warp_now(facts.frame);
            const LaneNow l = lane_now(facts.frame, w);
            REQUIRE(l.step == step);
            REQUIRE(l.age == 0);
            if (!l.arithmetic || !l.worked || l.issue->pc != issue.pc) continue;
            const auto after = desk.values(step + 1);
            const int32_t offset = l.instruction->destination[0];
            const simt::LaneValues* v = values_of(after, offset);
            REQUIRE(v != nullptr);
            INFO(ptx::text_of(*desk.run->program, issue.pc) << " in lane " << lane);
            CHECK(v->bits[lane] == l.arithmetic->result.bits);
            explained += !l.arithmetic->steps.empty();
            replaced += l.needs_before;
        }
    }
    CHECK(explained > 20);
    CHECK(replaced > 0);
}

TEST_CASE("A result that took the place of a source waits for the values in front of it") {
    LaneDesk desk;
    const KernelTrace& trace = desk.run->result.trace;
    for (const uint32_t i : desk.track().issues) {
        const IssueRecord& issue = trace.issues[i];
        if (issue.folded || operation_in(*desk.run->program, issue.pc).name != "fma" || (issue.active & 1) == 0) continue;
        if (state_at(trace, desk.track(), issue.cycle + 1).issue != nullptr) continue;
        desk.shell.focus.lane = 0;
        Facts facts(desk, issue.cycle + 1);
        const int64_t step = issues_before(trace, desk.track(), issue.cycle + 1);
        facts.keep(desk, step);
        const LaneNow late = lane_now(facts.frame, warp_now(facts.frame));
        REQUIRE(late.step == step - 1);
        CHECK(late.arithmetic.has_value() != late.needs_before);  // never made of what it left itself
        facts.keep(desk, step - 1);
        const LaneNow known = lane_now(facts.frame, warp_now(facts.frame));
        REQUIRE(known.arithmetic);
        CHECK(known.arithmetic->sources.size() == 3);
        CHECK(known.age == 1);
    }
}

TEST_CASE("The dot of a request goes out, turns once and is home when its answer is, not before") {
    for (const std::string_view gpu : {"v100", "h100", "teaching:4"}) {
        LaneDesk desk(gpu);
        REQUIRE(desk.run->result.trace.machine != nullptr);
        const MachineTrace& machine = *desk.run->result.trace.machine;
        for (const RequestRecord& r : machine.requests) {
            const Stations s = stations_of(machine, r);
            double before = way_of(s, r, static_cast<double>(s.begin())).at;
            bool back = false;
            for (int k = 1; k < 200; ++k) {
                const double clock = static_cast<double>(s.begin()) + static_cast<double>(r.ready) * k / 200;
                const WayPlace place = way_of(s, r, clock);
                REQUIRE(place.at >= 0);
                REQUIRE(place.at <= 3);
                REQUIRE(!(back && !place.back));
                if (place.back) REQUIRE((!back || place.at <= before + 1e-9));
                if (!place.back) REQUIRE(place.at >= before - 1e-9);
                if (place.back) REQUIRE(place.at > 0);  // it is not home yet
                if (place.at > 2 + 1e-9) REQUIRE(r.channel != RequestRecord::none);
                if (place.at > 1 + 1e-9) REQUIRE(clock >= static_cast<double>(s.at[static_cast<size_t>(Station::crossbar)]));
                back = place.back, before = place.at;
            }
            const WayPlace end = way_of(s, r, static_cast<double>(s.end()));
            CHECK(end.at ==
                  (r.kind == RequestKind::store && r.level != MemoryLevel::l1 && r.level != MemoryLevel::none ? 2 : 0));
        }
    }
}

TEST_CASE("A click picks a lane, a second one looks into it, and Escape comes back") {
    LaneDesk desk;
    desk.zoom(Stop::warp);
    desk.at(desk.track().begin + (desk.track().end - desk.track().begin) / 2);
    desk.frames(2);
    Facts facts(desk, desk.shell.focus.time);
    REQUIRE(desk.click_on("23"));
    CHECK(desk.shell.focus.lane == -1);  // that is its number, not the lane
    for (const UiState::Written& text : desk.written)
        if (text.text == "23") {
            desk.click(text.ink.x + text.ink.w / 2, text.ink.y - 16);
            break;
        }
    CHECK(desk.shell.focus.lane == 23);
    CHECK(desk.session.machine.wanted == static_cast<double>(Stop::warp));
    for (const UiState::Written& text : desk.written)
        if (text.text == "23") {
            desk.click(text.ink.x + text.ink.w / 2, text.ink.y - 16);
            break;
        }
    CHECK(desk.session.machine.wanted == static_cast<double>(Stop::lane));
    desk.zoom(Stop::lane);
    CHECK(desk.shows("lane 23"));
    desk.key(KeyCode::escape);
    CHECK(desk.session.machine.wanted == static_cast<double>(Stop::warp));
}

TEST_CASE("A warp and a lane read at any size, in every kind of cycle") {
    LaneDesk desk;
    const KernelTrace& trace = desk.run->result.trace;
    std::vector<int64_t> cycles;
    for (const uint32_t i : desk.track().issues)
        if (!trace.issues[i].folded) cycles.push_back(trace.issues[i].cycle), cycles.push_back(trace.issues[i].cycle + 2);
    cycles.push_back(desk.track().begin + 400);
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}, {2560.0f, 1440.0f, 1.0f}}) {
        desk.size(w, h, scale);
        for (const Stop stop : {Stop::warp, Stop::lane}) {
            desk.zoom(stop);
            for (const int64_t cycle : cycles) {
                desk.at(cycle);
                INFO(row_of(stop).name << " at " << w << "x" << h << " x" << scale << " cycle " << cycle);
                const std::vector<std::string> clashes = desk.clashes();
                for (const std::string& clash : clashes) UNSCOPED_INFO(clash);
                CHECK(clashes.empty());
                CHECK(desk.quads < 12'000);
            }
        }
    }
}

TEST_CASE("A large window shows the same instruction in all lanes, and a click there picks the lane") {
    LaneDesk desk;
    desk.size(1280, 720, 1);
    desk.zoom(Stop::lane);
    desk.at(desk.track().begin + (desk.track().end - desk.track().begin) / 2);
    CHECK_FALSE(desk.shows("the same instruction in all 32 lanes"));
    desk.size(2560, 1440, 1);
    desk.frames(3);
    float below = 0;
    for (const UiState::Written& text : desk.written)
        if (text.text == "the same instruction in all 32 lanes") below = text.ink.bottom();
    REQUIRE(below > 0);
    std::set<std::string> numbers;
    Rect other{};
    for (const UiState::Written& text : desk.written) {
        if (text.ink.y < below || text.ink.y > 1300 || text.ink.x > 1900 || text.text.size() > 2) continue;
        numbers.insert(text.text);
        if (text.text == "23") other = text.ink;
    }
    for (int lane = 0; lane < 32; ++lane) CHECK(numbers.contains(std::to_string(lane)));
    REQUIRE(other.w > 0);
    desk.click(other.x + other.w / 2, other.y + other.h / 2);
    CHECK(desk.shell.focus.lane == 23);
    CHECK(desk.shows("registers of lane 23"));
}

TEST_CASE("Low cells of all lanes say what each lane found too, where it fits beside what it left") {
    LaneDesk desk;
    desk.size(1600, 1000, 1);
    desk.zoom(Stop::lane);
    const KernelTrace& trace = desk.run->result.trace;
    int looked = 0, said = 0;
    for (const uint32_t index : desk.track().issues) {
        const IssueRecord& issue = trace.issues[index];
        if (issue.folded || looked == 12) continue;
        Facts facts(desk, issue.cycle);
        facts.keep(desk, issues_before(trace, desk.track(), issue.cycle));
        const LaneNow l = lane_now(facts.frame, warp_now(facts.frame));
        if (!l.arithmetic || !l.before || l.arithmetic->sources.size() < 2) continue;
        desk.at(issue.cycle);
        float below = 0;
        for (const UiState::Written& text : desk.written)
            if (text.text == "the same instruction in all 32 lanes") below = text.ink.bottom();
        if (below == 0) continue;
        ++looked;
        INFO("cycle " << issue.cycle);
        int found = 0;  // "1 + 1": what a lane found
        for (const UiState::Written& text : desk.written)
            found += text.ink.y > below && text.ink.y < 900 && text.text.find(' ') != std::string::npos && text.ink.x < 1150;
        said += found >= std::popcount(l.issue->active);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    CHECK(looked > 0);
    CHECK(said > 0);
}

TEST_CASE("While a question is open, a warp and its lanes keep to themselves what it asks for") {
    LaneDesk desk;
    const int64_t middle = desk.track().begin + (desk.track().end - desk.track().begin) / 2;
    Facts facts(desk, middle);
    const WarpNow w = warp_now(facts.frame);
    CHECK_FALSE(is_hidden(facts.frame, w));
    CHECK_FALSE(warp_sentence(facts.frame).empty());
    desk.session.learn.reveal_steps = w.step;
    CHECK(is_hidden(facts.frame, w));
    CHECK(warp_sentence(facts.frame).empty());
    CHECK(lane_sentence(facts.frame).empty());
    CHECK(warp_described(facts.frame) == "hidden until an answer is locked\n");
    CHECK(lane_described(facts.frame) == "hidden until an answer is locked\n");
    desk.session.learn.reveal_steps = w.step + 1;
    CHECK_FALSE(is_hidden(facts.frame, w));
}

TEST_CASE("A multiply-add shows its three sources and its result, however little room there is") {
    LaneDesk desk;
    const KernelTrace& trace = desk.run->result.trace;
    desk.shell.focus.lane = 2;
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}}) {
        desk.size(w, h, scale);
        desk.zoom(Stop::lane);
        for (const uint32_t i : desk.track().issues) {
            const IssueRecord& issue = trace.issues[i];
            if (issue.folded || operation_in(*desk.run->program, issue.pc).name != "fma" || (issue.active >> 2 & 1) == 0)
                continue;
            desk.at(issue.cycle);
            Facts facts(desk, issue.cycle);
            facts.keep(desk, issues_before(trace, desk.track(), issue.cycle));
            const LaneNow l = lane_now(facts.frame, warp_now(facts.frame));
            REQUIRE(l.arithmetic);
            REQUIRE(l.arithmetic->sources.size() == 3);
            INFO(w << "x" << h << " x" << scale);
            for (const LaneValue& source : l.arithmetic->sources) CHECK(desk.shows(number_text(source.bits, source.type)));
            CHECK(desk.shows("= ..."));  // its result is on its way
        }
    }
}

TEST_CASE("The text of a warp and of a lane says what their pictures show") {
    LaneDesk desk;
    const KernelTrace& trace = desk.run->result.trace;
    desk.zoom(Stop::lane);
    desk.shell.focus.lane = 2;
    for (const uint32_t i : desk.track().issues) {
        const IssueRecord& issue = trace.issues[i];
        if (issue.folded || operation_in(*desk.run->program, issue.pc).name != "fma" || (issue.active >> 2 & 1) == 0)
            continue;
        desk.at(issue.cycle);
        const std::string text = desk.shell.describe("machine");
        INFO(text);
        CHECK(text.find("lane 2 of warp") != std::string::npos);
        CHECK(text.find("fractions multiply: ") != std::string::npos);
        CHECK(text.find("rounding: ") != std::string::npos);
        CHECK(desk.shows("fractions multiply"));
    }
    desk.zoom(Stop::warp);
    const std::string text = desk.shell.describe("machine");
    CHECK(text.find("of 32 lanes on") != std::string::npos);
    CHECK(text.find("path: ") != std::string::npos);
}

}  // namespace gui_machine_lane_test
