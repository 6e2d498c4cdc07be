// cp.async as PTX text: what arrives in shared memory, when it does, and what is refused.
#include <numeric>

#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_async_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

std::vector<uint32_t> numbers(size_t count) {
    std::vector<uint32_t> v(count);
    std::iota(v.begin(), v.end(), 1000u);
    return v;
}

// p0 in, p1 out. %r1 the thread, %r2 its 16 bytes in shared memory, %rd3 those of `in`, %rd4 those of `out`.
const std::string prologue = R"(
.shared .align 16 .b8 tile[4096];
mov.u32 %r1, %tid.x;
mov.u32 %r3, tile;
mad.lo.u32 %r2, %r1, 16, %r3;
ld.param.u64 %rd1, [p0];
ld.param.u64 %rd2, [p1];
cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2;
mul.wide.u32 %rd5, %r1, 16;
add.u64 %rd3, %rd1, %rd5;
add.u64 %rd4, %rd2, %rd5;
)";
const std::string read_tile = R"(
ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r2];
st.global.v4.u32 [%rd4], {%r20, %r21, %r22, %r23};
)";

std::vector<uint32_t> copied(const std::string& body, uint32_t threads = 64) {
    Memory memory;
    const uint64_t in = put(memory, numbers(threads * 8), "in"), out = memory.allocate(threads * 16, "out");
    const LaunchResult result = run_text(text_kernel(prologue + body, 2), {1}, {threads}, {in, out}, memory);
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
    return read_back<uint32_t>(memory, out, threads * 4);
}

Fault fault_of(const std::string& body) {
    Memory memory;
    const uint64_t in = put(memory, numbers(256), "in"), out = memory.allocate(1024, "out");
    const LaunchResult result = run_text(text_kernel(prologue + body, 2), {1}, {64}, {in, out}, memory);
    return result.fault.value_or(Fault{});
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return true;
}

}  // namespace

TEST_CASE("a copy that is waited for has arrived, in every size, cache and hint") {
    for (const std::string spelling : {"cp.async.ca.shared.global", "cp.async.cg.shared.global",
                                       "cp.async.cg.shared::cta.global", "cp.async.ca.shared.global.L2::128B",
                                       "cp.async.cg.shared.global.L2::256B", "cp.async.ca.shared::cta.global.L2::64B"})
        for (const std::string wait : {"cp.async.commit_group; cp.async.wait_group 0;", "cp.async.wait_all;"})
            CHECK(copied(spelling + " [%r2], [%rd3], 16;" + wait + read_tile) == std::vector<uint32_t>([] {
                      auto v = numbers(256);
                      return v;
                  }()));
    const auto small = copied(
        "cp.async.ca.shared.global [%r2+4], [%rd3+8], 4; cp.async.ca.shared.global.L2::cache_hint [%r2+8], [%rd3+0], 8, "
        "%rd5;"
        "cp.async.wait_all;" +
        read_tile);
    for (uint32_t t = 0; t < 64; ++t) {
        const uint32_t first = 1000 + 4 * t;
        CHECK(std::vector<uint32_t>(small.begin() + 4 * t, small.begin() + 4 * t + 4) ==
              std::vector<uint32_t>{0, first + 2, first, first + 1});
    }
}

TEST_CASE("a copy that nobody waits for shows what was there before") {
    const std::string old = "mov.u32 %r9, 7; st.shared.v4.u32 [%r2], {%r9, %r9, %r9, %r9};";
    const std::string copy = "cp.async.cg.shared.global [%r2], [%rd3], 16; cp.async.commit_group;";
    CHECK(copied(old + copy + "bar.sync 0;" + read_tile) == std::vector<uint32_t>(256, 7));
    CHECK(copied(old + copy + "cp.async.wait_group 1; bar.sync 0;" + read_tile) == std::vector<uint32_t>(256, 7));
    CHECK(copied(old + copy + "cp.async.wait_group 0; bar.sync 0;" + read_tile) == numbers(256));
}

TEST_CASE("the source is read when the copy begins") {
    const std::string later = "mov.u32 %r9, 7; st.global.u32 [%rd3], %r9; cp.async.wait_all;";
    CHECK(copied("cp.async.cg.shared.global [%r2], [%rd3], 16;" + later + read_tile) == numbers(256));
}

TEST_CASE("wait_group leaves the newest groups pending, each thread its own") {
    // Three groups: words 0, 1, 2. Then threads of even number wait for all but one, the others for all but two.
    const auto got = copied(
        "cp.async.ca.shared.global [%r2], [%rd3], 4; cp.async.commit_group;"
        "cp.async.ca.shared.global [%r2+4], [%rd3+4], 4; cp.async.commit_group;"
        "cp.async.ca.shared.global [%r2+8], [%rd3+8], 4; cp.async.commit_group;"
        "cp.async.ca.shared.global [%r2+12], [%rd3+12], 4;"  // in no group
        "and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 0;"
        "@%p1 cp.async.wait_group 1; @!%p1 cp.async.wait_group 2;" +
        read_tile);
    for (uint32_t t = 0; t < 64; ++t) {
        CHECK(got[4 * t] == 1000 + 4 * t);
        CHECK(got[4 * t + 1] == (t % 2 ? 0 : 1000 + 4 * t + 1));
        CHECK(got[4 * t + 2] == 0);
        CHECK(got[4 * t + 3] == 0);
    }
    // Groups that a thread closes empty count too.
    const auto empty = copied(
        "setp.lt.u32 %p1, %r1, 10; @%p1 cp.async.ca.shared.global [%r2], [%rd3], 4; cp.async.commit_group;"
        "cp.async.commit_group; cp.async.wait_group 1;" +
        read_tile);
    for (uint32_t t = 0; t < 64; ++t) CHECK(empty[4 * t] == (t < 10 ? 1000 + 4 * t : 0));
}

TEST_CASE("what a smaller source leaves is zero, and an ignored source is not even read") {
    const std::string old = "mov.u32 %r9, 7; st.shared.v4.u32 [%r2], {%r9, %r9, %r9, %r9};";
    const auto partial = copied(old +
                                "and.b32 %r8, %r1, 15; min.u32 %r8, %r8, 12;"
                                "cp.async.ca.shared.global [%r2], [%rd3], 16, %r8; cp.async.wait_all;" +
                                read_tile);
    for (uint32_t t = 0; t < 64; ++t)
        for (uint32_t byte = 0; byte < 16; ++byte) {
            const uint32_t from = 1000 + 4 * t + byte / 4, limit = std::min(t % 16, 12u);
            CHECK((partial[4 * t + byte / 4] >> 8 * (byte % 4) & 255) == (byte < limit ? from >> 8 * (byte % 4) & 255 : 0));
        }
    const auto ignored = copied(old +
                                "setp.ge.u32 %p1, %r1, 32; selp.b64 %rd6, 8, %rd3, %p1;"  // a source that does not exist
                                "cp.async.cg.shared.global [%r2], [%rd6], 16, %p1; cp.async.wait_all;" +
                                read_tile);
    const auto flipped = copied(old +
                                "setp.lt.u32 %p1, %r1, 32; selp.b64 %rd6, %rd3, 8, %p1;"
                                "cp.async.cg.shared.global [%r2], [%rd6], 16, !%p1; cp.async.wait_all;" +
                                read_tile);
    for (uint32_t i = 0; i < 256; ++i) CHECK(ignored[i] == (i < 128 ? 1000 + i : 0));
    CHECK(flipped == ignored);
    const auto none =
        copied(old + "mov.u64 %rd6, 16; cp.async.cg.shared.global [%r2], [%rd6], 16, 0; cp.async.wait_all;" + read_tile);
    CHECK(none == std::vector<uint32_t>(256, 0));
}

TEST_CASE("bad copies are faults of the lane that asks for them") {
    contains(fault_of("cp.async.cg.shared.global [%r2], [%rd3+4], 16;").message, "misaligned global read of 16 bytes");
    contains(fault_of("cp.async.cg.shared.global [%r2+8], [%rd3], 16;").message, "misaligned shared write of 16 bytes");
    contains(fault_of("cp.async.cg.shared.global [%r2+4096], [%rd3], 16;").message,
             "invalid shared write of 16 bytes that reaches 16 bytes past the end");
    const Fault past = fault_of("cp.async.cg.shared.global [%r2], [%rd3+16], 16;");
    contains(past.message, "invalid global read of 16 bytes that reaches 16 bytes past the end of 'in' (1024 bytes)");
    CHECK(past.thread == Dim3{63, 0, 0});
    contains(fault_of("cp.async.ca.shared.global [%r2], [%rd3], 4, 5;").message, "it may not be larger");
    CHECK(fault_of("cp.async.cg.shared.global [%r2], [%rd3+0], 16;").message.empty());
}

TEST_CASE("cp.async that means nothing is refused with a reason") {
    contains(refusal_of("cp.async.cg.shared.global [%r1], [%rd1], 8;"), "cp.async.cg copies 16 bytes");
    contains(refusal_of("cp.async.ca.shared.global [%r1], [%rd1], 12;"), "4, 8 or 16 bytes");
    contains(refusal_of("cp.async.ca.shared.global [%r1], [%rd1], %r2;"), "is a number from 4 to 16");
    contains(refusal_of("cp.async.wait_group %r1;"), "is a number");
    contains(refusal_of("cp.async.ca.global.shared [%rd1], [%r1], 8;"), "unknown form");
    contains(refusal_of("cp.async.commit_groups;"), "did you mean 'cp.async.commit_group'");
}

TEST_CASE("a double-buffered loop sums an array") {
    const uint32_t threads = 64, tiles = 20;
    const std::string body = R"(
ld.param.u64 %rd1, [p0];
ld.param.u64 %rd2, [p1];
mov.u32 %r1, %tid.x;
.shared .align 16 .b8 tiles[512];
mov.u32 %r3, tiles;
mad.lo.u32 %r2, %r1, 4, %r3;
mul.wide.u32 %rd5, %r1, 4;
add.u64 %rd3, %rd1, %rd5;
add.u64 %rd4, %rd2, %rd5;
mov.u32 %r10, 0;
mov.u32 %r11, 0;
cp.async.ca.shared.global [%r2], [%rd3], 4;
cp.async.commit_group;
loop:
add.u32 %r12, %r10, 1;
setp.lt.u32 %p1, %r12, 20;
and.b32 %r13, %r12, 1;
mad.lo.u32 %r14, %r13, 256, %r2;
mul.wide.u32 %rd6, %r12, 256;
add.u64 %rd7, %rd3, %rd6;
@%p1 cp.async.ca.shared.global [%r14], [%rd7], 4;
cp.async.commit_group;
cp.async.wait_group 1;
bar.sync 0;
and.b32 %r13, %r10, 1;
xor.b32 %r15, %r1, 63;
mad.lo.u32 %r14, %r15, 4, %r3;
mad.lo.u32 %r14, %r13, 256, %r14;
ld.shared.u32 %r16, [%r14];
add.u32 %r11, %r11, %r16;
bar.sync 0;
mov.u32 %r10, %r12;
@%p1 bra loop;
st.global.u32 [%rd4], %r11;
)";
    Memory memory;
    const auto values = numbers(threads * tiles);
    const uint64_t in = put(memory, values, "in"), out = memory.allocate(threads * 4, "out");
    for (const WarpOrder order : {WarpOrder::round_robin, WarpOrder::greedy, WarpOrder::reverse, WarpOrder::random}) {
        LaunchOptions options;
        options.order = order;
        REQUIRE(!run_text(text_kernel(body, 2), {1}, {threads}, {in, out}, memory, options).fault);
        const auto got = read_back<uint32_t>(memory, out, threads);
        for (uint32_t t = 0; t < threads; ++t) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < tiles; ++i) sum += values[i * threads + (t ^ 63)];
            CHECK(got[t] == sum);
        }
    }
}

TEST_CASE("a copy of a block in flight holds its pending copies") {
    const auto program = text_program(text_kernel(
        prologue + "cp.async.cg.shared.global [%r2], [%rd3], 16; cp.async.commit_group; cp.async.wait_group 0;" + read_tile,
        2));
    Memory memory;
    const uint64_t in = put(memory, numbers(128), "in"), out = memory.allocate(512, "out");
    const LaunchConfig config = config_of({1}, {32}, {in, out});
    Grid grid = make_grid(*program, config, memory);
    Block block = make_block(grid, 0);
    const auto is = [&](const Block& b, const char* what) {
        return ptx::text_of(*program, b.warps[0].pc()).starts_with(what);
    };
    while (!is(block, "cp.async.wait_group")) step(block.warps[0]);
    Block saved = block;
    while (!block.warps[0].done) step(block.warps[0]);
    CHECK(read_back<uint32_t>(memory, out, 128) == numbers(128));
    std::memset(memory.write(out, 512), 0, 512);
    while (!saved.warps[0].done) step(saved.warps[0]);
    CHECK(read_back<uint32_t>(memory, out, 128) == numbers(128));
}

TEST_CASE("copies without end do not take memory without end") {
    const std::string body = R"(
mov.u32 %r10, 0;
again:
cp.async.ca.shared.global [%r2], [%rd3], 4;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p1, %r10, 5000;
@%p1 bra again;
)";
    const auto got = copied(body + read_tile, 32);  // the oldest are written when too many are pending
    for (uint32_t t = 0; t < 32; ++t) CHECK(got[4 * t] == 1000 + 4 * t);
}

}  // namespace simt_async_test
