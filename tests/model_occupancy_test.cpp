// Occupancy limit by limit, with the rules in words, and launches that hold fewer blocks than fit.
#include <algorithm>
#include <map>

#include "tests/catch.h"
#include "tests/model_support.h"

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;
using simt::test::config_of;

namespace {

// A chain of dependent additions: a warp issues one in four cycles, so more warps an SM end sooner.
Program chain(int length) {
    Builder b;
    const int32_t r = b.r32("%r1");
    for (int i = 0; i < length; ++i) b.lanes(simt::test::add32, Type::u32, r, r, r);
    b.exit();
    return finished(b.program);
}

// Most blocks that one SM holds at any moment.
int64_t most_at_once(const KernelTrace& trace, uint16_t sm) {
    std::vector<std::pair<int64_t, int>> changes;
    for (const BlockRun& block : trace.blocks)
        if (block.sm == sm) {
            changes.push_back({block.begin, 1});
            changes.push_back({block.end, -1});
        }
    std::sort(changes.begin(), changes.end());  // an end at a cycle comes before a beginning
    int64_t now = 0, most = 0;
    for (const auto& [cycle, by] : changes) most = std::max<int64_t>(most, now += by);
    return most;
}

}  // namespace

TEST_CASE("each limit of the occupancy calculator names its rule and its blocks") {
    const GpuSpec v100 = gpu("v100");
    // 40 registers x 32 = 1,280, a multiple of 256: 51 warps fit, 48 in groups of four, 6 blocks of 8. Shared memory: 20,736
    // is a multiple of 256 and 98,304 / 20,736 = 4.
    const auto limits = occupancy_limits(v100, 256, 40, 20736);
    REQUIRE(limits.size() == 4);
    std::map<std::string_view, uint32_t> blocks;
    for (const OccupancyLimit& limit : limits) {
        blocks[limit.name] = limit.blocks;
        CHECK(limit.limiter == (limit.name == "shared memory"));
        CHECK_FALSE(limit.rule.empty());
    }
    CHECK(blocks["warps"] == 8);
    CHECK(blocks["registers"] == 6);
    CHECK(blocks["shared memory"] == 4);
    CHECK(blocks["block slots"] == 32);
    CHECK(limits[1].a_block == 10240);
    CHECK(limits[1].rule.find("in groups of 4: 48") != std::string::npos);
    CHECK(limits[2].a_block == 20736);
}

TEST_CASE("a block that a launch refuses fits no SM: its registers and its shared memory have limits of their own") {
    // P100: 64 KiB an SM, 48 KiB a block. Jetson Nano: 65,536 registers an SM, 32,768 a block.
    const GpuSpec p100 = gpu("p100"), nano = gpu("jetson-nano");
    CHECK(occupancy(p100, 64, 32, 48 * 1024).blocks == 1);
    const Occupancy shared = occupancy(p100, 64, 32, 48 * 1024 + 1);
    CHECK(shared.blocks == 0);
    CHECK(shared.limiter == "shared memory");
    CHECK(occupancy_limits(p100, 64, 32, 48 * 1024 + 1)[2].rule.find("a block may have 49152 B") != std::string::npos);
    CHECK(occupancy(nano, 1024, 32, 0).blocks == 2);
    const Occupancy registers = occupancy(nano, 1024, 64, 0);
    CHECK(registers.blocks == 0);
    CHECK(registers.limiter == "registers");
    CHECK(occupancy_limits(nano, 1024, 64, 0)[1].rule.find("a block may have 32768") != std::string::npos);
    // What a block may have at most, and no granule more, on every GPU that reserves some of it.
    for (const std::string_view name : {"a100", "h100", "rtx4090"}) {
        const GpuSpec some = gpu(name);
        CHECK(occupancy(some, 32, 16, some.shared_per_block).blocks == 1);
        CHECK(occupancy(some, 32, 16, some.shared_per_block + 1).blocks == 0);
    }
}

TEST_CASE("a limit chosen by hand counts only where it is the least") {
    const GpuSpec v100 = gpu("v100");
    CHECK(occupancy(v100, 256, 40, 20736, 3).blocks == 3);
    CHECK(occupancy(v100, 256, 40, 20736, 3).limiter == "your limit");
    CHECK(occupancy(v100, 256, 40, 20736, 3).fraction == 24.0 / 64);
    CHECK(occupancy(v100, 256, 40, 20736, 4).limiter == "shared memory");
    CHECK(occupancy(v100, 256, 40, 20736, 9).blocks == 4);
    CHECK(occupancy_limits(v100, 256, 40, 20736, 3).back().limiter);
}

TEST_CASE("a launch told to hold fewer blocks an SM never holds more, computes the same and takes longer") {
    const GpuSpec two_sms = gpu("teaching:2");
    const Program program = chain(40);
    const simt::LaunchConfig config = config_of({16, 1, 1}, {64, 1, 1});
    int64_t before = 0;
    for (const uint32_t most : {1u, 2u, 4u}) {
        simt::Memory memory;
        TimedOptions options = tracing();
        options.most_blocks_per_sm = most;
        const TimedResult result = launch(two_sms, program, config, memory, options);
        REQUIRE_FALSE(result.fault);
        CHECK(result.warp_instructions == 16 * 2 * 41);
        CHECK(most_at_once(result.trace, 0) == most);
        CHECK(most_at_once(result.trace, 1) == most);
        CHECK(result.occupancy.blocks == most);
        if (before != 0) CHECK(result.cycles < before);
        before = result.cycles;
    }
    simt::Memory memory;
    const TimedResult free = launch(two_sms, program, config, memory, tracing());
    CHECK(free.cycles <= before);
    CHECK(free.occupancy.by_choice == 0);
}
