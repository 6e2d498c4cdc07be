// Where instructions come from, how blocks start, and how long a warp sleeps: waits that no data explains.
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_fetch_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

TimedResult run(const Program& program, const GpuSpec& on, uint32_t blocks, uint32_t threads) {
    simt::Memory memory;
    TimedResult result = launch(on, program, simt::test::config_of({blocks}, {threads}, {}), memory);
    if (result.fault) FAIL(simt::render(*result.fault));
    return result;
}

uint64_t waited(const TimedResult& result, StallReason reason) {
    uint64_t sum = 0;
    for (const InstructionCounters& c : result.instructions) sum += c.stalls[static_cast<size_t>(reason)];
    return sum;
}

// `body` independent additions, `rounds` times.
Program loop_of(uint32_t body, uint32_t rounds) {
    Builder b;
    b.program.registers_per_thread = 16;
    const int32_t count = b.r32(), from = b.r32(), more = b.predicate();
    int32_t to[8];
    for (int32_t& d : to) d = b.r32();
    b.lanes(simt::test::add32, Type::u32, count, count, b.word(rounds));
    const uint32_t top = b.at();
    for (uint32_t i = 0; i < body; ++i) b.lanes(simt::test::add32, Type::u32, to[i % 8], from, b.word(1));
    b.lanes(simt::test::add32, Type::u32, count, count, b.word(0xffffffffu));
    b.lanes(simt::test::less32, Type::u32, more, b.word(0), count).destination_type = Type::pred;
    b.branch(top, b.at() + 1, more);
    b.exit();
    return finished(b.program);
}

}  // namespace

TEST_CASE("a kernel's first instruction waits for its code as long as L2 takes, the next warps do not") {
    for (const char* name : {"v100", "a100", "teaching:1"}) {
        const GpuSpec on = gpu(name);
        const TimedResult result = run(loop_of(4, 1), on, 1, 32 * on.sub_cores);
        for (const WarpTrack& warp : result.trace.warps) {
            REQUIRE_FALSE(warp.runs.empty());
            CHECK(warp.runs[0].reason == StallReason::no_instruction);
            CHECK(warp.runs[0].end - warp.runs[0].begin == on.l2_latency);
        }
        // A block that comes later finds the code in the sub-cores.
        GpuSpec narrow = on;
        narrow.blocks_per_sm.value = 1;
        const TimedResult two = run(loop_of(4, 1), narrow, 2 * on.sms, 32);
        uint64_t waits = 0;
        for (const WarpTrack& warp : two.trace.warps)
            for (const StallRun& stall : warp.runs) waits += stall.reason == StallReason::no_instruction;
        CHECK(waits == 1);
    }
}

TEST_CASE("a loop that fits the sub-core's cache waits for its code once, a longer one in every round") {
    const GpuSpec on = gpu("teaching:1");
    const uint32_t held = on.l0_code_bytes / on.instruction_bytes;
    const auto waits = [&](uint32_t body, uint32_t rounds) {
        return waited(run(loop_of(body, rounds), on, 1, 32), StallReason::no_instruction);
    };
    CHECK(waits(held / 2, 20) == waits(held / 2, 2));
    const uint64_t few = waits(2 * held, 10), many = waits(2 * held, 20);
    CHECK(many >= few + 10 * (on.l1_code_latency - 1));
    CHECK(many <= few + 10 * (on.l2_latency + 2 * held));
}

TEST_CASE("straight code waits for L2 where a warp goes through it alone, and for nothing where it is there already") {
    // Independent instructions of the FP32 lanes, of which these GPUs take one a cycle.
    Builder b;
    b.program.registers_per_thread = 16;
    const int32_t from = b.r32();
    int32_t to[8];
    for (int32_t& d : to) d = b.r32();
    for (uint32_t i = 0; i < 3000; ++i)
        b.lanes(simt::test::add32, Type::f32, to[i % 8], from, b.word(1)).opcode = &opcode(Unit::fma);
    b.exit();
    const Program program = finished(b.program);
    for (const char* name : {"rtx3090", "rtx4090", "h100"}) {
        CAPTURE(name);
        const GpuSpec on = gpu(name);
        const auto straight = [&](bool fetched) {
            simt::Memory memory;
            TimedOptions options;
            options.ideal.fetched = fetched;
            return launch(on, program, simt::test::config_of({1}, {32}, {}), memory, options);
        };
        const TimedResult comes = straight(false), there = straight(true);
        // So many lines are under way at most: L2's latency for each of these stretches.
        const double lines = 3000.0 * on.instruction_bytes / 128;
        CHECK(static_cast<double>(comes.cycles) > lines / (on.code_prefetch + 1) * on.l2_latency);
        CHECK(waited(there, StallReason::no_instruction) == 0);
        CHECK(static_cast<double>(waited(comes, StallReason::no_instruction)) > 0.3 * static_cast<double>(comes.cycles));
        // Nothing else changes: what is gained is what was waited.
        CHECK(comes.cycles - there.cycles ==
              Approx(static_cast<double>(waited(comes, StallReason::no_instruction))).epsilon(0.05));
    }
}

TEST_CASE("blocks start one after the other at the block scheduler's rate, each after its start-up") {
    for (const char* name : {"v100", "teaching:4"}) {
        const GpuSpec on = gpu(name);
        const TimedResult result = run(loop_of(4, 1), on, 4, 32);
        REQUIRE(result.trace.blocks.size() == 4);
        for (const BlockRun& block : result.trace.blocks)
            CHECK(block.begin == on.block_start_latency + static_cast<int64_t>(block.block / on.blocks_per_cycle));
    }
    GpuSpec slow = gpu("v100");
    slow.blocks_per_cycle.value = 0.25;
    const TimedResult result = run(loop_of(4, 1), slow, 4, 32);
    for (const BlockRun& block : result.trace.blocks)
        CHECK(block.begin == slow.block_start_latency + 4 * int64_t{block.block});
}

TEST_CASE("whole waves and the blocks of the last one add up to the grid") {
    for (const uint32_t blocks : {1u, 8u, 16u, 17u, 39u}) {
        const GpuSpec on = gpu("teaching:2");
        const Program program = loop_of(4, 1);
        const TimedResult result = run(program, on, blocks, 64);
        const double places = on.sms * result.occupancy.blocks;
        const double whole = metric_of(program, result, "whole_waves").value();
        const double tail = metric_of(program, result, "tail_blocks").value();
        CHECK(whole * places + tail == blocks);
        CHECK(tail < places);
    }
}

TEST_CASE("a warp sleeps as long as nanosleep asks, by the boost clock") {
    const auto program = ptx::decode(ptx::parse(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 2000;
    nanosleep.u32 %r1;
    add.u32 %r2, %r1, 1;
    nanosleep.u32 100;
    ret;
}
)",
                                                "sleep.ptx")
                                         .value(),
                                     "k")
                             .value();
    const GpuSpec on = gpu("v100");
    const TimedResult result = run(*program, on, 1, 32);
    const auto asleep = static_cast<double>(waited(result, StallReason::sleeping));
    CHECK(asleep >= 2100 * on.boost_mhz / 1000 - 4);
    CHECK(asleep <= 2100 * on.boost_mhz / 1000);
}

}  // namespace model_fetch_test
