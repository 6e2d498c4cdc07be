// Occupancy limit by limit, with the rules in words, and launches that hold fewer blocks than fit.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_occupancy_test {

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

TEST_CASE("a block that asks for more than any SM has does not fit, however much that is") {
    for (const GpuSpec& one : gpus()) {
        INFO(one.name);
        for (const uint32_t shared : {0xffffffffu, 0xffffff00u, 0xfffffc00u, 0x80000000u}) {
            const Occupancy o = occupancy(one, 256, 32, shared);
            CHECK(o.blocks == 0);
            CHECK(o.limiter == "shared memory");
            CHECK(occupancy_limits(one, 256, 32, shared)[2].a_block >= shared);
        }
        for (const uint32_t registers : {0xffffffffu, 0x08000000u, 0x08000001u, 0x10000000u}) {
            CHECK(occupancy(one, 256, registers, 0).blocks == 0);
            CHECK(occupancy(one, 256, registers, 0).limiter == "registers");
            CHECK(occupancy_limits(one, 256, registers, 0)[1].a_block >= uint64_t{registers} * 32 * 8);
        }
        CHECK(occupancy(one, 0xffffffffu, 32, 0).blocks == 0);
        CHECK(occupancy(one, 32, 32, (uint64_t{1} << 32) + 16).blocks == 0);
    }
}

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

TEST_CASE("as many blocks fit as NVIDIA's own calculator says, for the reason that it gives") {
    // Rows "GPU threads registers shared-bytes blocks limits" by cuda_occupancy.h of CUDA 13; limits as bits: 1 warps, 2
    // registers, 4 shared memory, 8 blocks.
    std::istringstream rows(read_file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/golden/occupancy_nvidia.txt").value());
    const std::map<std::string_view, uint32_t> bits = {
        {"warps", 1}, {"registers", 2}, {"shared memory", 4}, {"block slots", 8}};
    std::string name;
    std::set<std::string> seen;
    int compared = 0;
    for (uint32_t threads, registers, shared, blocks, limits;
         rows >> name >> threads >> registers >> shared >> blocks >> limits; ++compared) {
        INFO(name << ": " << threads << " threads, " << registers << " registers, " << shared << " bytes");
        seen.insert(name);
        const Occupancy ours = occupancy(gpu(name), threads, registers, shared);
        CHECK(ours.blocks == blocks);
        CHECK((bits.at(ours.limiter) & limits) != 0);
        uint32_t named = 0;
        for (const OccupancyLimit& limit : occupancy_limits(gpu(name), threads, registers, shared))
            if (limit.limiter) named |= bits.at(limit.name);
        CHECK(named == limits);
    }
    CHECK(compared == 661);
    CHECK(seen.size() == gpus().size() - 1);  // all but the teaching GPU
}

TEST_CASE("a launch is refused exactly where the occupancy calculator says that no block fits") {
    Rng rng(31);
    int refused = 0;
    for (const GpuSpec& some : gpus()) {
        INFO(some.name);
        for (int i = 0; i < 400; ++i) {
            Program program = chain(1);
            program.registers_per_thread = 1 + static_cast<uint32_t>(rng.below(255));
            simt::LaunchConfig config;
            config.grid = {1};
            config.block = {1 + static_cast<uint32_t>(rng.below(1024))};
            config.dynamic_shared = i % 2 == 0 ? 0 : static_cast<uint32_t>(rng.below(240 * 1024));
            INFO(config.block.x << " threads, " << program.registers_per_thread << " registers, " << config.dynamic_shared);
            const auto refusal = simt::check_launch(program, config, limits_of(some));
            INFO((refusal ? refusal->message : "not refused"));
            const uint32_t blocks =
                occupancy(some, config.block.x, program.registers_per_thread, config.dynamic_shared).blocks;
            CHECK(refusal.has_value() == (blocks == 0));
            refused += refusal.has_value();
        }
    }
    CHECK(refused > 100);
    // 992 threads with 66 registers: 31 warps of 2,112 in units of 256, 2,304; 65,536 have room for 28.
    Program program = chain(1);
    program.registers_per_thread = 66;
    simt::LaunchConfig config;
    config.grid = {1}, config.block = {992};
    CHECK(simt::check_launch(program, config, limits_of(gpu("v100")))->message ==
          "992 threads with 66 registers each need 71424 registers a block, 2304 a warp in units of 256: at most 65536");
    program.registers_per_thread = 80;  // 25 warps of 2,560 are 64,000, but a quarter of the registers holds 6
    config.block = {800};
    CHECK(simt::check_launch(program, config, limits_of(gpu("v100")))->message ==
          "a block of 25 warps with 80 registers a thread is too large: there are registers for at most 24 warps, in groups "
          "of 4");
}

TEST_CASE("where several limits allow the same number of blocks all of them are named") {
    const GpuSpec v100 = gpu("v100");
    const Occupancy two = occupancy(v100, 416, 26, 0);  // 13 of 64 warps a block; 26 registers: 64 warps fit
    CHECK(two.by_warps == 4);
    CHECK(two.by_registers == 4);
    CHECK(two.blocks == 4);
    CHECK(two.limiter == "warps");
    CHECK(two.limiters == "warps and registers");
    std::string named;
    for (const OccupancyLimit& limit : occupancy_limits(v100, 416, 26, 0))
        if (limit.limiter) named += std::string(limit.name) + ";";
    CHECK(named == "warps;registers;");
    CHECK(occupancy(v100, 64, 16, 0).limiters == "warps and block slots");  // no shared memory is used: that is no limit
    CHECK(occupancy(v100, 64, 16, 3072).limiters == "warps, shared memory and block slots");
    CHECK(occupancy(v100, 416, 26, 0, 4).limiters == "warps and registers");  // nor is a choice that changes nothing
    CHECK(occupancy(v100, 416, 26, 0, 3).limiters == "your limit");
    CHECK(occupancy(v100, 256, 40, 20736).limiters == "shared memory");
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

}  // namespace model_occupancy_test
