// Instructions that only their own warp can see run ahead of their issue. Nothing that a launch reports may tell.
#include <string>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model_support.h"

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

// Each thread writes its words to shared memory; behind the barrier it loads at `stride` words from its neighbours, in
// words, vectors, bytes and under a guard, in a loop whose trips depend on the thread.
std::string kernel(uint32_t stride) {
    return R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 buffer[8192];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    mov.u32 %r5, buffer;
    shl.b32 %r6, %r1, 4;
    add.s32 %r7, %r5, %r6;
    mad.lo.s32 %r8, %r4, 7, 3;
    st.shared.v4.u32 [%r7], {%r4, %r8, %r1, %r2};
    bar.sync 0;
    mul.lo.s32 %r9, %r1, )" +
           std::to_string(4 * stride) + R"(;
    and.b32 %r9, %r9, 2047;
    add.s32 %r10, %r5, %r9;
    and.b32 %r11, %r1, 5;
    mov.u32 %r12, 0;
    setp.gt.u32 %p1, %r1, 11;
loop:
    ld.shared.u32 %r13, [%r10];
    add.s32 %r12, %r12, %r13;
    ld.shared.u32 %r13, [%r10+512];
    xor.b32 %r12, %r12, %r13;
    @%p1 ld.shared.u32 %r13, [%r10+64];
    add.s32 %r12, %r12, %r13;
    ld.shared.u8 %r14, [%r5+5];
    add.s32 %r12, %r12, %r14;
    and.b32 %r15, %r10, -16;
    ld.shared.v2.u32 {%r16, %r17}, [%r15];
    mad.lo.s32 %r12, %r16, %r17, %r12;
    add.s32 %r11, %r11, -1;
    setp.ge.s32 %p2, %r11, 0;
    @%p2 bra loop;
    bar.sync 0;
    st.shared.u32 [%r7], %r12;
    ld.shared.u32 %r18, [%r7];
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r18;
    ret;
}
)";
}

struct Seen {
    TimedResult result;
    std::vector<uint32_t> out;
};

Seen run(const GpuSpec& on, uint32_t stride, uint32_t threads, bool ahead) {
    constexpr uint32_t blocks = 9;
    const auto program = ptx::decode(ptx::parse(kernel(stride), "ahead.ptx").value(), "k").value();
    simt::Memory memory;
    const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(blocks * threads), "out");
    TimedOptions options;
    options.run_ahead = ahead;
    const simt::LaunchConfig config = simt::test::config_of({blocks}, {threads}, {out});
    Seen seen{launch(on, *program, config, memory, options), {}};
    seen.out = simt::test::read_back<uint32_t>(memory, out, blocks * threads);
    return seen;
}

}  // namespace

TEST_CASE("running ahead of the issue changes no value, no cycle, no count and no wait") {
    for (const char* name : {"teaching:2", "v100", "p100"}) {
        for (const uint32_t stride : {0u, 1u, 2u, 3u, 4u, 8u, 16u, 17u, 32u, 33u}) {
            const uint32_t threads = stride % 2 ? 100 : 256;
            INFO(name << ", stride " << stride);
            const Seen ahead = run(gpu(name), stride, threads, true), behind = run(gpu(name), stride, threads, false);
            REQUIRE_FALSE(ahead.result.fault);
            CHECK(ahead.out == behind.out);
            CHECK(ahead.result.cycles == behind.result.cycles);
            CHECK(ahead.result.warp_instructions == behind.result.warp_instructions);
            CHECK(ahead.result.thread_instructions == behind.result.thread_instructions);
            for (size_t i = 0; i < ahead.result.metrics.size(); ++i) {
                INFO(ahead.result.metrics[i].name);
                CHECK(ahead.result.metrics[i].value == behind.result.metrics[i].value);
            }
            REQUIRE(ahead.result.trace.issues.size() == behind.result.trace.issues.size());
            size_t differ = 0;
            for (size_t i = 0; i < ahead.result.trace.issues.size(); ++i) {
                const IssueRecord &a = ahead.result.trace.issues[i], &b = behind.result.trace.issues[i];
                differ += a.cycle != b.cycle || a.pc != b.pc || a.active != b.active || a.passes != b.passes ||
                          a.ready != b.ready || a.warp != b.warp;
            }
            CHECK(differ == 0);
        }
    }
}

TEST_CASE("a fault of an instruction that could run ahead is found where it is issued") {
    // The load lies beyond the block's shared memory.
    std::string text = kernel(1);
    const std::string load = "ld.shared.u32 %r13, [%r10+512];";
    text.replace(text.find(load), load.size(), "ld.shared.u32 %r13, [%r10+9000];");
    const auto program = ptx::decode(ptx::parse(text, "ahead.ptx").value(), "k").value();
    const auto fault_of = [&](bool ahead) {
        simt::Memory memory;
        const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(64), "out");
        TimedOptions options;
        options.run_ahead = ahead;
        return launch(gpu("v100"), *program, simt::test::config_of({2}, {32}, {out}), memory, options);
    };
    const TimedResult ahead = fault_of(true), behind = fault_of(false);
    REQUIRE(ahead.fault);
    REQUIRE(behind.fault);
    CHECK(simt::render(*ahead.fault) == simt::render(*behind.fault));
    CHECK(ahead.fault->kind == "memcheck");
    CHECK(ahead.warp_instructions == behind.warp_instructions);
}
