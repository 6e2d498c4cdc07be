// Unloaded latencies and throughputs of whole launches, against the GPU's row by closed formulas.
#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "tests/model/support.h"
#include "tests/simt/text.h"

namespace model_latency_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;
using simt::test::config_of;

namespace {

// `length` instructions, each needing the one before it, then exit. One warp.
TimedResult run_chain(const GpuSpec& on, Unit unit, Type type, uint32_t length) {
    Builder b;
    const int32_t r = b.r64();
    for (uint32_t i = 0; i < length; ++i) b.lanes(simt::test::xor32, type, r, r, r).opcode = &opcode(unit);
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    return launch(on, program, config_of({1}, {32}), memory);
}

// A chase of `length` dependent loads by one warp, after `warm` loads of the same places.
struct Chase {
    Program program;
    simt::Memory memory;
    simt::LaunchConfig config;
    uint32_t first = 0;
};
Chase make_chase(Space space, uint32_t length, uint64_t stride, uint32_t rounds) {
    Chase chase;
    Builder b;
    std::vector<uint64_t> links(length * stride / 8);
    const uint64_t base = chase.memory.allocate(links.size() * 8, "links");
    const int32_t at = b.r64();
    b.load(Space::param, Type::u64, at, no_operand);
    b.program.parameter_bytes = 8;
    chase.first = b.at();
    for (uint32_t i = 0; i < length * rounds; ++i) b.load(space, Type::u64, at, at);
    b.exit();
    for (uint32_t i = 0; i < length; ++i) links[i * stride / 8] = base + (i + 1) % length * stride;
    std::memcpy(chase.memory.write(base, links.size() * 8), links.data(), links.size() * 8);
    chase.program = finished(b.program);
    chase.config = config_of({1}, {1}, {base});
    return chase;
}

// Of a launch: its block starts, and its code comes from L2.
int64_t first_issue(const GpuSpec& on) {
    return int64_t{on.block_start_latency} + on.l2_latency;
}

}  // namespace

TEST_CASE("a chain of dependent instructions takes the spec's latency each, on every GPU") {
    constexpr uint32_t n = 100;
    for (const GpuSpec& on : gpus()) {
        INFO(on.name);
        // exit follows the last at once
        const auto expect = [&](uint32_t latency) { return first_issue(on) + int64_t{n - 1} * latency + 2; };
        CHECK(run_chain(on, Unit::fma, Type::f32, n).cycles == expect(on.fp32_latency));
        CHECK(run_chain(on, Unit::alu, Type::u32, n).cycles == expect(on.int_latency));
        const auto issue = static_cast<uint32_t>(32 / on.fp64_lanes);  // few lanes: a warp takes longer than its result
        CHECK(run_chain(on, Unit::fp64, Type::f64, n).cycles == expect(std::max<uint32_t>(on.fp64_latency, issue)));
        CHECK(run_chain(on, Unit::xu, Type::f32, n).cycles == expect(on.sfu_latency));
    }
    CHECK(run_chain(gpu("v100"), Unit::fma, Type::f32, n).cycles == first_issue(gpu("v100")) + 99 * 4 + 2);
    CHECK(run_chain(gpu("p100"), Unit::fma, Type::f32, n).cycles == first_issue(gpu("p100")) + 99 * 6 + 2);
}

TEST_CASE("doubles' divisions and roots take their FP64 instructions, rough reciprocals one of the special function unit") {
    const GpuSpec on = gpu("v100");
    const auto cycles = [&](const std::string& step, int steps, uint32_t threads) {
        std::string text =
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .f64 %d<3>;\n"
            "mov.f64 %d1, 0d3FF8000000000000;\nmov.f64 %d2, %d1;\n";
        for (int i = 0; i < steps; ++i) text += step;
        const auto program = ptx::decode(ptx::parse(text + "ret;\n}\n", "chain.ptx").value(), "k").value();
        simt::Memory memory;
        return static_cast<double>(launch(on, *program, config_of({1}, {threads}), memory).cycles);
    };
    const auto a_step = [&](const std::string& step, uint32_t threads) {
        return (cycles(step, 40, threads) - cycles(step, 20, threads)) / 20;
    };
    struct Row {
        const char* step;
        double latency, fp64;  // of a warp; FP64 instructions, of four cycles each
    };
    const Row rows[] = {{"div.rn.f64 %d1, %d1, %d2;\n", 104, 8},
                        {"sqrt.rn.f64 %d1, %d1;\n", 93, 8},
                        {"rcp.rn.f64 %d1, %d1;\n", 80, 5},
                        {"rsqrt.approx.f64 %d1, %d1;\n", 69, 5},
                        {"rcp.approx.ftz.f64 %d1, %d1;\n", double(on.sfu_latency), 0},
                        {"rsqrt.approx.ftz.f64 %d1, %d1;\n", double(on.sfu_latency), 0}};
    for (const Row& row : rows) {
        CAPTURE(row.step);
        CHECK(a_step(row.step, 32) == Approx(row.latency).margin(1));
        // With 8 warps on a sub-core the pipe is the pace of sequences, but for a tenth: the start by the special functions.
        const double pipe = row.fp64 > 0 ? row.fp64 * 32 / on.fp64_lanes : 32 / double(on.sfu_lanes);
        if (row.fp64 > 0) CHECK(a_step(row.step, 1024) / 8 == Approx(pipe).epsilon(0.12));
        CHECK(a_step(row.step, 1024) >= 8 * pipe - 1);
    }
}

TEST_CASE("a pointer chase takes DRAM's latency at first and L1's when it comes round again, on every GPU") {
    constexpr uint32_t n = 16;
    for (const GpuSpec& on : gpus()) {
        INFO(on.name);
        Chase chase = make_chase(Space::global, n, 256, 2);
        const TimedResult result = launch(on, chase.program, chase.config, chase.memory);
        const auto& issues = result.trace.issues;
        for (uint32_t i = 1; i < 2 * n; ++i) {
            const int64_t step = issues[chase.first + i].cycle - issues[chase.first + i - 1].cycle;
            const bool in_l1 = on.l1_caches_loads != 0;
            if (i <= n && on.dram_far_latency != 0)  // by the half of the chip that the line is behind
                CHECK((step == on.dram_latency || step == on.dram_far_latency));
            else
                CHECK(step == (i <= n ? on.dram_latency : in_l1 ? on.l1_latency : on.l2_latency));
            CHECK(issues[chase.first + i].level == (i < n ? MemoryLevel::dram : in_l1 ? MemoryLevel::l1 : MemoryLevel::l2));
        }
    }
}

TEST_CASE("a pointer chase over more than L1 holds takes L2's latency") {
    const GpuSpec on = gpu("teaching:1");
    const uint32_t lines = 2 * on.l1_bytes / 128;
    Chase chase = make_chase(Space::global, lines, 128, 2);
    const TimedResult result = launch(on, chase.program, chase.config, chase.memory);
    const auto& issues = result.trace.issues;
    for (uint32_t i = lines + 1; i < 2 * lines; ++i)
        REQUIRE(issues[chase.first + i].cycle - issues[chase.first + i - 1].cycle == on.l2_latency);
}

TEST_CASE("a shared-memory load of stride k words takes k passes and k - 1 cycles more, on every GPU") {
    for (const GpuSpec& on : gpus())
        for (const uint32_t stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
            INFO(on.name << " stride " << stride);
            Builder b;
            const int32_t lane = b.r32(), at = b.r64(), value = b.r32();
            b.program.static_shared = 32 * 32 * 4;
            b.special(SpecialRegister::laneid, lane);
            b.lanes(simt::test::mul32, Type::u32, lane, lane, b.word(stride));
            b.lanes(simt::test::scale4, Type::u64, at, lane);
            const uint32_t load = b.at();
            b.load(Space::shared, Type::u32, value, at);
            b.lanes(simt::test::add32, Type::u32, value, value, value);
            b.exit();
            const Program program = finished(b.program);
            simt::Memory memory;
            const TimedResult result = launch(on, program, config_of({1}, {32}), memory);
            const IssueRecord issue = issues_of(result, load).at(0);
            CHECK(issue.passes == stride);
            CHECK(issue.ready - issue.cycle == on.shared_latency + stride - 1);
            CHECK(issues_of(result, load + 1).at(0).cycle == issue.ready);
        }
}

TEST_CASE("enough warps in turn keep the FP32 lanes busy all the time") {
    for (GpuSpec on : gpus()) {
        on.scheduler.value = SchedulerPolicy::loose_round_robin;  // the greedy one leaves the youngest warps to the end
        INFO(on.name);
        Builder b;
        const int32_t r = b.r32();
        constexpr uint32_t n = 200, warps = 32;
        for (uint32_t i = 0; i < n; ++i) b.lanes(simt::test::xor32, Type::f32, r, r, r);
        b.exit();
        const Program program = finished(b.program);
        simt::Memory memory;
        const TimedResult result = launch(on, program, config_of({1}, {warps * 32}), memory);
        const double lower = double{n} * warps / on.sub_cores * 32 / (on.fp32_lanes);
        CHECK(static_cast<double>(result.cycles) >= lower);
        CHECK(static_cast<double>(result.cycles - first_issue(on)) <= lower * 1.05 + 100);
    }
}

TEST_CASE("two dispatch units issue independent instructions of one warp in one cycle, one unit does not") {
    Builder b;
    const int32_t x = b.r32(), y = b.r32();
    for (int i = 0; i < 10; ++i) {
        b.lanes(simt::test::xor32, Type::f32, x, x, x);
        b.lanes(simt::test::xor32, Type::f64, y, y, y).opcode = &opcode(Unit::fp64);
    }
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    const auto paired = [&](const GpuSpec& on) {
        const TimedResult result = launch(on, program, config_of({1}, {32}), memory);
        int count = 0;
        for (size_t i = 1; i < result.trace.issues.size(); ++i)
            count += result.trace.issues[i].cycle == result.trace.issues[i - 1].cycle;
        return count;
    };
    CHECK(paired(gpu("p100")) > 0);
    CHECK(paired(gpu("v100")) == 0);
}

TEST_CASE("a warp that shuffles does not wait for the stores of another, which wait for their own queue") {
    GpuSpec on = gpu("v100");
    on.sm_write_bytes_per_cycle.value = 4;
    const auto program = simt::test::text_program(simt::test::text_kernel(R"(
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd3, [p1]; cvt.u32.u64 %r5, %rd3;
mov.u32 %r1, %tid.x; mov.u32 %r4, 200;
setp.ge.u32 %p1, %r1, 32;
@%p1 bra other;
mul.wide.u32 %rd2, %r1, 128; add.u64 %rd1, %rd1, %rd2;
stores:
setp.eq.u32 %p2, %r5, 0;
@%p2 bra done;
st.global.u32 [%rd1], %r1;
sub.u32 %r5, %r5, 1;
bra stores;
other:
shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffffffff;
sub.u32 %r4, %r4, 1;
setp.ne.u32 %p2, %r4, 0;
@%p2 bra other;
done:
)",
                                                                          2));
    const auto run = [&](uint32_t stores) {
        simt::Memory memory;
        return launch(on, *program, config_of({1}, {64}, {memory.allocate(4096, "out"), stores}), memory);
    };
    const uint32_t stores = 20;
    const TimedResult with = run(stores), without = run(0);
    REQUIRE_FALSE(with.fault);
    REQUIRE(with.trace.warps.size() == 2);
    const int64_t later = with.trace.warps[1].end - without.trace.warps[1].end;
    CHECK(later >= 0);
    CHECK(later <= stores * 32);                                  // cycles that they take of the data pipe
    CHECK(with.trace.warps[0].end > stores * 32 * 32 / 4 - 200);  // what the port takes
    int64_t lg = 0, mio = 0, drain = 0;
    for (const WarpTrack& warp : with.trace.warps)
        for (const StallRun& wait : warp.runs) {
            if (wait.reason == StallReason::lg_throttle) {
                lg += wait.end - wait.begin;
                REQUIRE(wait.cause >= 0);  // the access whose leaving makes room
                const IssueRecord& holder = with.trace.issues[static_cast<size_t>(wait.cause)];
                CHECK(holder.sectors > 0);
                CHECK(holder.cycle < wait.begin);
            }
            if (wait.reason == StallReason::mio_throttle) mio += wait.end - wait.begin;
            if (wait.reason == StallReason::drain) {
                drain += wait.end - wait.begin;
                REQUIRE(wait.cause >= 0);  // the warp's last store, not its end
                const IssueRecord& cause = with.trace.issues[static_cast<size_t>(wait.cause)];
                CHECK(cause.sectors > 0);
                CHECK(cause.cycle < wait.begin);
            }
        }
    CHECK(lg > 1000);
    CHECK(mio == 0);
    CHECK(drain > 100);
}

}  // namespace model_latency_test
