// A launch on several threads is the launch on one: every cycle, counter and byte, also where the order of the SMs decides
// what they read.
#include "core/model/launch/groups.h"

#include <cstring>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/cases.h"
#include "tests/simt/text.h"

namespace model_groups_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

TimedOptions bare() {
    TimedOptions options;
    options.trace = false;
    return options;
}

void check_same(const TimedResult& one, const TimedResult& several) {
    CHECK(one.cycles == several.cycles);
    CHECK(one.warp_instructions == several.warp_instructions);
    CHECK(one.thread_instructions == several.thread_instructions);
    REQUIRE(one.instructions.size() == several.instructions.size());
    for (size_t pc = 0; pc < one.instructions.size(); ++pc) {
        INFO("instruction " << pc);
        CHECK(std::memcmp(&one.instructions[pc], &several.instructions[pc], sizeof(InstructionCounters)) == 0);
    }
    REQUIRE(one.metrics.size() == several.metrics.size());
    for (size_t i = 0; i < one.metrics.size(); ++i) {
        INFO(one.metrics[i].name);
        CHECK(std::memcmp(&one.metrics[i].value, &several.metrics[i].value, sizeof(double)) == 0);
    }
}

// Each thread draws numbers from a counter that all share, and reads what its neighbours have written or not yet: what comes
// out depends on the order in which the SMs come to global memory.
constexpr const char* tickets = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry tickets(.param .u64 counter, .param .u64 out, .param .u32 rounds, .param .u32 beyond)
{
    .reg .pred %p<4>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [counter];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r1, [rounds];
    ld.param.u32 %r2, [beyond];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd2, %rd3;
    mov.u32 %r7, 0;
    and.b32 %r9, %r3, 3;
    add.u32 %r1, %r1, %r9;
LOOP:
    atom.global.add.u32 %r8, [%rd1], 1;
    mad.lo.u32 %r7, %r7, 31, %r8;
    ld.global.u32 %r10, [%rd4+128];
    xor.b32 %r7, %r7, %r10;
    st.global.u32 [%rd4], %r7;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra LOOP;
    setp.ne.u32 %p2, %r6, %r2;
    @%p2 bra DONE;
    st.global.u32 [%rd2+-4096], %r7;
DONE:
    ret;
}
)";

struct Tickets {
    std::shared_ptr<const Program> program = ptx::decode(ptx::parse(tickets, "tickets.ptx").value(), "tickets").value();
    simt::LaunchConfig config;
    simt::Memory memory;
    uint64_t counter = 0, out = 0;
    static constexpr uint32_t blocks = 300, threads = 96, words = blocks * threads + 64;

    explicit Tickets(uint32_t beyond = ~0u) {
        counter = simt::test::put(memory, std::vector<uint32_t>(1), "counter");
        out = simt::test::put(memory, std::vector<uint32_t>(words), "out");
        config.grid = {blocks, 1, 1};
        config.block = {threads, 1, 1};
        config.parameters.resize(24);
        const uint32_t numbers[] = {3, beyond};
        std::memcpy(config.parameters.data(), &counter, 8);
        std::memcpy(config.parameters.data() + 8, &out, 8);
        std::memcpy(config.parameters.data() + 16, numbers, 8);
    }
    std::vector<uint32_t> written() const { return simt::test::read_back<uint32_t>(memory, out, words); }
};

}  // namespace

TEST_CASE("on any number of threads a launch takes the same cycles, counts the same and leaves the same memory") {
    for (uint64_t seed = 0; seed < 24; ++seed) {
        Case c = make_case(seed);
        const GpuSpec on = some_gpu(seed);
        simt::Memory alone = c.memory;
        const TimedOptions options = bare();
        const TimedResult one = launch(on, c.program, c.config, alone, options);
        for (const uint32_t groups : {2u, 3u, 8u}) {
            INFO("seed " << seed << " in " << groups << " groups on " << on.name);
            simt::Memory memory = c.memory;
            Machine machine(on, c.program, c.config, memory, options, groups);
            REQUIRE(machine.run_in_groups());
            check_same(one, machine.finish());
            CHECK(simt::test::read_back<uint32_t>(memory, c.address, c.words) ==
                  simt::test::read_back<uint32_t>(alone, c.address, c.words));
        }
    }
}

TEST_CASE("SMs that race through global memory race on several threads as on one") {
    Tickets alone;
    const GpuSpec on = gpu("v100");
    const TimedResult one = launch(on, *alone.program, alone.config, alone.memory, bare());
    REQUIRE_FALSE(one.fault);
    for (const uint32_t groups : {2u, 5u}) {
        Tickets k;
        const TimedOptions options = bare();
        Machine machine(on, *k.program, k.config, k.memory, options, groups);
        REQUIRE(machine.run_in_groups());
        check_same(one, machine.finish());
        CHECK(k.written() == alone.written());
    }
    // Another order would show: a GPU with half the SMs deals the numbers out otherwise.
    Tickets other;
    GpuSpec half = on;
    half.sms.value = 40;
    launch(half, *other.program, other.config, other.memory, bare());
    CHECK(other.written() != alone.written());
}

TEST_CASE("a launch on several threads that faults or never ends says what it says on one, and leaves what that leaves") {
    const GpuSpec on = gpu("v100");
    for (const uint64_t most : {uint64_t{1'000'000}, uint64_t{9'000}}) {
        Tickets alone(12'345), k(12'345);
        TimedOptions options = bare();
        options.max_instructions = most;
        const TimedResult one = launch(on, *alone.program, alone.config, alone.memory, options);
        const TimedResult several = launch_on_threads(on, *k.program, k.config, k.memory, options, 2);
        REQUIRE(one.fault);
        REQUIRE(several.fault);
        CHECK(render(*one.fault) == render(*several.fault));
        CHECK(one.warp_instructions == several.warp_instructions);
        CHECK(one.cycles == several.cycles);
        CHECK(k.written() == alone.written());
    }
}

TEST_CASE("L2 goes from launch to launch on several threads too") {
    const GpuSpec on = gpu("v100");
    L2State alone_l2, together_l2;
    Tickets alone, k;
    for (int round = 0; round < 2; ++round) {
        TimedOptions options = bare();
        options.l2 = &alone_l2;
        const TimedResult one = launch(on, *alone.program, alone.config, alone.memory, options);
        options.l2 = &together_l2;
        check_same(one, launch_on_threads(on, *k.program, k.config, k.memory, options, 2));
    }
    CHECK(packed_from(alone_l2) == packed_from(together_l2));
}

}  // namespace model_groups_test
