// Instructions of whose moment only their own block can tell run ahead of their issue. Nothing that a launch reports may
// tell.
#include "core/simt/execute/ahead.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/cases.h"

namespace model_ahead_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

// Each thread writes its words to shared memory; behind the barrier it loads at `stride` words from its neighbours, in
// words, vectors, bytes and under a guard, in a loop whose trips depend on the thread.
std::string kernel(uint32_t stride) {
    return R"(.visible .entry k(.param .u64 out)
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

// Tiles go through shared memory, two barriers a trip; warps and lanes leave early, after as many trips as their block and
// thread say; a block's threads add to what others of the block have written to global memory; vectors, guards, and lanes
// that go two ways between the barriers.
const char* const tiles = R"(.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 trips)
{
    .reg .pred %p<9>;
    .reg .b32 %r<40>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<20>;
    .shared .align 16 .b8 tile[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r5, [trips];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd6, %rd3, %rd5;
    mul.wide.u32 %rd7, %r1, 16;
    add.s64 %rd8, %rd4, %rd7;
    mov.u32 %r6, tile;
    shl.b32 %r7, %r1, 2;
    add.s32 %r8, %r6, %r7;
    xor.b32 %r9, %r7, 124;
    add.s32 %r10, %r6, %r9;
    mov.u32 %r11, 0;
    mov.u32 %r12, 0;
    shr.u32 %r13, %r1, 5;
    add.s32 %r14, %r13, %r2;
    and.b32 %r14, %r14, 3;
    setp.eq.u32 %p1, %r14, 3;
    @%p1 bra leave;
trip:
    ld.global.nc.v4.u32 {%r20, %r21, %r22, %r23}, [%rd8];
    ld.global.u32 %r24, [%rd6];
    and.b32 %r25, %r1, 1;
    setp.eq.u32 %p2, %r25, 0;
    @%p2 ld.global.u32 %r20, [%rd8+64];
    add.s32 %r26, %r20, %r21;
    xor.b32 %r27, %r22, %r23;
    add.s32 %r26, %r26, %r24;
    st.shared.u32 [%r8], %r26;
    bar.sync 0;
    ld.shared.u32 %r28, [%r10];
    setp.gt.u32 %p3, %r25, 0;
    @%p3 bra odd;
    mad.lo.s32 %r11, %r28, 3, %r11;
    bra both;
odd:
    add.s32 %r11, %r11, %r27;
both:
    st.global.u32 [%rd6], %r11;
    bar.sync 0;
    add.s64 %rd8, %rd8, 16;
    add.s32 %r12, %r12, 1;
    setp.lt.u32 %p4, %r12, %r5;
    @%p4 bra trip;
    add.s32 %r15, %r12, %r13;
    setp.lt.u32 %p5, %r15, 9;
    and.b32 %r16, %r1, 24;
    setp.eq.u32 %p6, %r16, 8;
    @%p6 bra leave;
    st.global.u32 [%rd6], %r11;
leave:
    ret;
}
)";

// The first block writes data, then a flag behind a fence; the others wait for the flag and add to the data.
const char* const handed_over = R"(.visible .entry k(.param .u64 out, .param .u64 flag)
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [flag];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    mul.wide.u32 %rd5, %r2, 256;
    add.s64 %rd6, %rd4, %rd5;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra wait;
    mad.lo.s32 %r3, %r1, 5, 7;
    st.global.u32 [%rd4], %r3;
    membar.gl;
    bar.sync 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra done;
    mov.u32 %r4, 1;
    st.volatile.global.u32 [%rd2], %r4;
    bra done;
wait:
    ld.volatile.global.u32 %r5, [%rd2];
    setp.eq.u32 %p3, %r5, 0;
    @%p3 bra wait;
    membar.gl;
    ld.global.u32 %r6, [%rd4];
    add.s32 %r6, %r6, %r2;
    st.global.u32 [%rd6], %r6;
done:
    ret;
}
)";

// A loop in which every instruction changes how it runs from trip to trip: for all lanes, for none, for some, and over one
// bank or many. Its trips make more runs than the ring holds.
const char* const fickle = R"(.visible .entry k(.param .u64 out)
{
    .reg .pred %p<6>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 buffer[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, buffer;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    and.b32 %r5, %r1, 31;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
    mov.u32 %r13, 0;
loop:
    and.b32 %r8, %r6, 3;
    setp.eq.u32 %p1, %r8, 1;
    setp.lt.u32 %p2, %r5, %r8;
    @%p1 add.s32 %r7, %r7, 5;
    @!%p1 xor.b32 %r7, %r7, 9;
    @%p2 add.s32 %r7, %r7, %r6;
    @%p1 bra past;
    add.s32 %r7, %r7, 1;
past:
    mul.lo.s32 %r9, %r3, %r8;
    and.b32 %r9, %r9, 1020;
    add.s32 %r10, %r2, %r9;
    ld.shared.u32 %r11, [%r10];
    @!%p1 ld.shared.u32 %r12, [%r10+256];
    @%p2 ld.shared.u32 %r13, [%r10+512];
    add.s32 %r7, %r7, %r11;
    add.s32 %r7, %r7, %r12;
    mad.lo.s32 %r7, %r7, 3, %r13;
    add.s32 %r6, %r6, 1;
    setp.lt.u32 %p3, %r6, 90;
    @%p3 bra loop;
    bar.sync 0;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    ret;
}
)";

TimedResult run(const GpuSpec& on, const ptx::Program& program, const simt::LaunchConfig& config, simt::Memory& memory,
                bool ahead) {
    TimedOptions options;
    options.run_ahead = ahead;
    return launch(on, program, config, memory, options);
}

// With and without running ahead: all that is reported is the same, and so are the words at `out`.
void check_alike(const GpuSpec& on, const ptx::Program& program, const simt::LaunchConfig& config,
                 const simt::Memory& memory, uint64_t out, uint32_t words) {
    simt::Memory first = memory, second = memory;
    const TimedResult ahead = run(on, program, config, first, true), behind = run(on, program, config, second, false);
    if (ahead.fault) FAIL(simt::render(*ahead.fault));
    REQUIRE_FALSE(behind.fault);
    CHECK(simt::test::read_back<uint32_t>(first, out, words) == simt::test::read_back<uint32_t>(second, out, words));
    CHECK(simt::test::read_back<uint32_t>(first, out, words) != simt::test::read_back<uint32_t>(memory, out, words));
    CHECK(ahead.cycles == behind.cycles);
    CHECK(ahead.warp_instructions == behind.warp_instructions);
    CHECK(ahead.thread_instructions == behind.thread_instructions);
    REQUIRE(ahead.metrics.size() == behind.metrics.size());
    for (size_t i = 0; i < ahead.metrics.size(); ++i) {
        INFO(ahead.metrics[i].name);
        CHECK(ahead.metrics[i].value == behind.metrics[i].value);
    }
    REQUIRE(ahead.trace.issues.size() == behind.trace.issues.size());
    size_t differ = 0;
    for (size_t i = 0; i < ahead.trace.issues.size(); ++i) {
        const IssueRecord &a = ahead.trace.issues[i], &b = behind.trace.issues[i];
        differ += a.cycle != b.cycle || a.pc != b.pc || a.active != b.active || a.passes != b.passes || a.ready != b.ready ||
                  a.warp != b.warp || a.sectors != b.sectors || a.level != b.level;
    }
    CHECK(differ == 0);
}

std::shared_ptr<const ptx::Program> program_of(const std::string& text) {
    const std::string head = ".version 7.0\n.target sm_75\n.address_size 64\n";
    return ptx::decode(ptx::parse(head + text, "ahead.ptx").value(), "k").value();
}

}  // namespace

TEST_CASE("running ahead of the issue changes no value, no cycle, no count and no wait") {
    for (const char* name : {"teaching:2", "v100", "p100"}) {
        for (const uint32_t stride : {0u, 1u, 2u, 3u, 4u, 8u, 16u, 17u, 32u, 33u}) {
            const uint32_t threads = stride % 2 ? 100 : 256, words = 9 * threads;
            INFO(name << ", stride " << stride);
            simt::Memory memory;
            const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(words), "out");
            check_alike(gpu(name), *program_of(kernel(stride)), simt::test::config_of({9}, {threads}, {out}), memory, out,
                        words);
        }
    }
}

TEST_CASE("nor does running ahead from barrier to barrier, when warps and lanes leave early") {
    const auto program = program_of(tiles);
    for (const char* name : {"teaching:1", "teaching:3", "p100", "v100", "a100", "h100"}) {
        for (const uint32_t threads : {32u, 33u, 128u, 250u, 512u}) {
            for (const uint64_t trips : {1u, 2u, 7u, 40u}) {
                INFO(name << ", " << threads << " threads, " << trips << " trips");
                simt::Memory memory;
                std::vector<uint32_t> numbers(8192);
                Rng rng(threads + trips);
                for (uint32_t& number : numbers) number = static_cast<uint32_t>(rng.next());
                const uint64_t in = simt::test::put(memory, numbers, "in");
                const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(13 * threads, 1), "out");
                simt::LaunchConfig config = simt::test::config_of({13}, {threads}, {out, in});
                config.parameters.resize(20);
                std::memcpy(config.parameters.data() + 16, &trips, 4);
                check_alike(gpu(name), *program, config, memory, out, 13 * threads);
            }
        }
    }
}

TEST_CASE("nor does it where no instruction runs twice alike") {
    for (const char* name : {"teaching:2", "v100", "p100"}) {
        INFO(name);
        simt::Memory memory;
        const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(128), "out");
        check_alike(gpu(name), *program_of(fickle), simt::test::config_of({2}, {128}, {out}), memory, out, 128);
    }
}

TEST_CASE("nor does it over random programs, schedulers and launches") {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        INFO("seed " << seed);
        const Case c = make_case(seed);
        check_alike(some_gpu(seed), c.program, c.config, c.memory, c.address, c.words);
    }
}

TEST_CASE("what a block hands over behind a fence has come for those that waited, ahead or not") {
    const auto program = program_of(handed_over);
    for (const char* name : {"teaching:2", "p100", "v100"}) {
        for (const bool ahead : {true, false}) {
            INFO(name << (ahead ? ", ahead" : ", behind"));
            simt::Memory memory;
            constexpr uint32_t threads = 64, blocks = 5;
            const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(blocks * threads), "out");
            const uint64_t flag = simt::test::put(memory, std::vector<uint32_t>(1), "flag");
            const TimedResult result =
                run(gpu(name), *program, simt::test::config_of({blocks}, {threads}, {out, flag}), memory, ahead);
            REQUIRE_FALSE(result.fault);
            const auto got = simt::test::read_back<uint32_t>(memory, out, blocks * threads);
            size_t wrong = 0;
            for (uint32_t block = 0; block < blocks; ++block)
                for (uint32_t t = 0; t < threads; ++t) wrong += got[block * threads + t] != 5 * t + 7 + block;
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("a fault of an instruction that could run ahead is found where it is issued") {
    // The load lies beyond the block's shared memory.
    std::string text = kernel(1);
    const std::string load = "ld.shared.u32 %r13, [%r10+512];";
    text.replace(text.find(load), load.size(), "ld.shared.u32 %r13, [%r10+9000];");
    const auto program = program_of(text);
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

TEST_CASE("memory that the launch writes is read at the cycle of the issue: races through it come out alike, ahead or not") {
    const std::string head = R"(.visible .entry k(.param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, 0;
)";
    const std::string lost_updates = head + R"(
again:
    ld.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 20;
    @%p1 bra again;
    ret;
})";
    const std::string plain_flag = head + R"(
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra write;
wait:
    ld.global.u32 %r3, [%rd1];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra wait;
    ret;
write:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, 3000;
    @%p3 bra write;
    st.global.u32 [%rd1], %r2;
    ret;
})";
    for (const std::string& text : {lost_updates, plain_flag})
        for (const char* name : {"teaching:2", "p100", "v100"}) {
            INFO(name << text);
            simt::Memory memory;
            const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(8), "out");
            check_alike(gpu(name), *program_of(text), simt::test::config_of({5}, {96}, {out}), memory, out, 8);
        }
}

TEST_CASE("what a launch may write follows from where its stores' addresses come from") {
    simt::Memory memory;
    const uint64_t in = simt::test::put(memory, std::vector<uint32_t>(64), "in");
    const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(64), "out");
    const auto written = [&](const std::string& body, std::initializer_list<uint64_t> arguments) {
        const auto program = program_of(R"(.visible .global .u32 count;
.visible .entry k(.param .u64 a, .param .u64 b)
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 8 .b8 box[64];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
)" + body + "ret;\n}");
        const simt::LaunchConfig config = simt::test::config_of({1}, {32}, arguments);
        simt::Grid grid = simt::make_grid(*program, config, memory);
        simt::find_written(grid);
        if (grid.writes_anywhere) return std::string("anywhere");
        std::string names;
        for (const uint64_t address : grid.written) names += address == in ? "in " : address == out ? "out " : "variable ";
        return names;
    };
    const std::string copy = "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4]; add.s64 %rd5, %rd2, %rd3;\n";
    CHECK(written(copy + "st.global.u32 [%rd5], %r2;\n", {in, out}) == "out ");
    CHECK(written(copy + "st.global.u32 [%rd5], %r2;\n", {in, in + 128}) == "in ");  // two parameters, one allocation
    CHECK(written(copy + "st.shared.u32 [box], %r2;\n", {in, out}).empty());
    CHECK(written(copy + "setp.eq.u32 %p1, %r1, 3; selp.b64 %rd6, %rd4, %rd5, %p1; st.global.u32 [%rd6], %r2;\n",
                  {in, out}) == "in out ");
    CHECK(written(copy + "red.global.add.u32 [%rd5], %r2;\n", {in, out}) == "out ");
    CHECK(written(copy + "red.global.add.u32 [count], %r2;\n", {in, out}) == "variable ");
    CHECK(written("ld.global.u64 %rd4, [%rd1]; st.global.u32 [%rd4], %r1;\n", {in, out}) == "anywhere");
    CHECK(written("mov.u64 %rd4, 4096; st.global.u32 [%rd4], %r1;\n", {in, out}) == "anywhere");
    CHECK(written("loop: st.global.u32 [%rd6], %r1; mov.u64 %rd6, %rd2; setp.eq.u32 %p1, %r1, 3; @%p1 bra loop;\n",
                  {in, out}) == "out ");                                            // against the order of the text
    CHECK(written(copy + "st.global.u32 [%rd5], %r2;\n", {in, 12}) == "anywhere");  // no allocation of ours
}

TEST_CASE("a called function with more registers than its kernel may write anywhere") {
    std::string more;
    for (int k = 1; k < 60; ++k) {
        const std::string to = std::to_string(k);
        more += "ld.global.u64 %rd" + to + ", [%rd0];\n";
    }
    const auto program = program_of(R"(.func put(.param .b64 to)
{
    .reg .b64 %rd<60>;
    ld.param.u64 %rd0, [to];
)" + more + R"(
    st.global.u64 [%rd0], %rd59;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    { .param .b64 to; st.param.b64 [to], %rd1; call put, (to); }
    ret;
})");
    simt::Memory memory;
    const uint64_t out = simt::test::put(memory, std::vector<uint32_t>(64), "out");
    const simt::LaunchConfig config = simt::test::config_of({2}, {32}, {out});
    simt::Grid grid = simt::make_grid(*program, config, memory);
    simt::find_written(grid);
    CHECK(grid.writes_anywhere);
    CHECK_FALSE(run(gpu("v100"), *program, config, memory, true).fault);
}

TEST_CASE("warps that wait at a barrier for one that spins dead-lock in the same words, ahead or not") {
    const auto program = program_of(R"(.visible .entry k()
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .shared .align 4 .b8 flag[4];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, flag;
    bar.sync 0;
    setp.gt.u32 %p1, %r1, 31;
    @%p1 bra meet;
spin:
    ld.volatile.shared.u32 %r3, [%r2];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra spin;
meet:
    bar.sync 0;
    ret;
}
)");
    for (const char* name : {"teaching:1", "p100", "v100"}) {
        INFO(name);
        simt::Memory memory;
        const simt::LaunchConfig config = simt::test::config_of({3}, {128}, {});
        const TimedResult ahead = run(gpu(name), *program, config, memory, true);
        const TimedResult behind = run(gpu(name), *program, config, memory, false);
        REQUIRE(ahead.fault);
        REQUIRE(behind.fault);
        CHECK(simt::render(*ahead.fault) == simt::render(*behind.fault));
        CHECK(ahead.cycles == behind.cycles);
    }
}

}  // namespace model_ahead_test
