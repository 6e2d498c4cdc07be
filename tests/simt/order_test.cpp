// The orders in which the functional driver runs warps and blocks: what a kernel that depends on them shows, and that
// blocks which wait for one another make progress.
#include <algorithm>
#include <set>

#include "core/ptx/ptx.h"
#include "core/simt/launch.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_order_test {

using namespace lockstep;
using namespace lockstep::simt;

namespace {

const WarpOrder all_orders[] = {WarpOrder::round_robin, WarpOrder::greedy, WarpOrder::reverse, WarpOrder::random};

std::shared_ptr<const ptx::Program> program_of(const std::string& body, const std::string& parameters = ".param .u64 p") {
    const std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(" + parameters + ")\n{\n" +
                             ".reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<5>;\n" + body + "\n}\n";
    return ptx::decode(ptx::parse(text, "order.ptx").value()).value();
}

// Every warp notes its number at the next place of a list: out[atomicAdd(&next, 1)] = block * warps + warp.
const char* const note_order = R"(
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra END;
    atom.global.add.u32 %r3, [%rd1], 1;
    shr.u32 %r4, %r1, 5;
    mov.u32 %r5, %ctaid.x;
    mov.u32 %r6, %ntid.x;
    shr.u32 %r6, %r6, 5;
    mad.lo.u32 %r4, %r5, %r6, %r4;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3+4], %r4;
END:
    ret;)";

std::vector<uint32_t> order_of(WarpOrder order, uint64_t seed, uint32_t blocks, uint32_t warps) {
    const auto program = program_of(note_order);
    Memory memory;
    const uint64_t out = memory.allocate(4 * (blocks * warps + 1), "out");
    LaunchOptions options;
    options.order = order;
    options.seed = seed;
    const LaunchResult result = launch(*program, test::config_of({blocks}, {warps * warp_size}, {out}), memory, options);
    REQUIRE(!result.fault);
    std::vector<uint32_t> words(blocks * warps + 1);
    std::memcpy(words.data(), memory.read(out, words.size() * 4), words.size() * 4);
    REQUIRE(words[0] == blocks * warps);
    return {words.begin() + 1, words.end()};
}

}  // namespace

TEST_CASE("round robin runs warps and blocks from the first to the last, reverse from the last to the first") {
    std::vector<uint32_t> up(12);
    for (uint32_t i = 0; i < 12; ++i) up[i] = i;
    CHECK(order_of(WarpOrder::round_robin, 1, 3, 4) == up);
    CHECK(order_of(WarpOrder::greedy, 1, 3, 4) == up);
    std::reverse(up.begin(), up.end());
    CHECK(order_of(WarpOrder::reverse, 1, 3, 4) == up);
}

TEST_CASE("random order runs every warp of every block once, differs by seed, and repeats with the seed") {
    std::set<std::vector<uint32_t>> seen;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        const auto order = order_of(WarpOrder::random, seed, 37, 4);
        CHECK(order == order_of(WarpOrder::random, seed, 37, 4));
        std::vector<uint32_t> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        for (uint32_t i = 0; i < sorted.size(); ++i) REQUIRE(sorted[i] == i);
        seen.insert(order);
    }
    CHECK(seen.size() == 5);
}

TEST_CASE("blocks that wait at a barrier of the whole grid come through in every order") {
    // Each block adds one to a counter and spins until all have: only possible when all are resident.
    const auto program = program_of(R"(
    ld.param.u64 %rd1, [p];
    atom.global.add.u32 %r1, [%rd1], 1;
    mov.u32 %r2, %nctaid.x;
AGAIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.lt.u32 %p1, %r3, %r2;
    @%p1 bra AGAIN;
    atom.global.add.u32 %r1, [%rd1+4], %r3;
    ret;)");
    for (const WarpOrder order : all_orders) {
        Memory memory;
        const uint64_t out = memory.allocate(8, "out");
        LaunchOptions options;
        options.order = order;
        const LaunchResult result = launch(*program, test::config_of({5}, {1}, {out}), memory, options);
        REQUIRE(!result.fault);
        uint32_t words[2];
        std::memcpy(words, memory.read(out, 8), 8);
        CHECK(words[0] == 5);
        CHECK(words[1] == 25);
    }
}

TEST_CASE("blocks that wait for one that cannot start are a dead-lock, found at once") {
    const auto program = program_of(R"(
    ld.param.u64 %rd1, [p];
    atom.global.add.u32 %r1, [%rd1], 1;
AGAIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.lt.u32 %p1, %r3, 3;
    @%p1 bra AGAIN;
    ret;)");
    Memory memory;
    const uint64_t out = memory.allocate(8, "out");
    LaunchOptions options;
    options.resident_blocks = 2;
    const LaunchResult result = launch(*program, test::config_of({3}, {1}, {out}), memory, options);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "deadlock");
    CHECK_THAT(result.fault->message, Catch::StartsWith("no warp of the block can go on: warp 0 spins on line ") &&
                                          Catch::EndsWith("; 1 block cannot start before one of the 2 that run has ended"));
    CHECK(result.warp_instructions < 20'000'000);
}

TEST_CASE("a loop that waits for the clock ends in a functional launch") {
    const auto program = program_of(R"(
    mov.u64 %rd1, %clock64;
AGAIN:
    mov.u64 %rd2, %clock64;
    sub.u64 %rd3, %rd2, %rd1;
    setp.lt.u64 %p1, %rd3, 100000;
    @%p1 bra AGAIN;
    ret;)");
    Memory memory;
    const uint64_t out = memory.allocate(8, "out");
    const LaunchResult result = launch(*program, test::config_of({2}, {64}, {out}), memory);
    CHECK(!result.fault);
    CHECK(result.warp_instructions > 1000);
}

TEST_CASE("two looks at the clock differ in a functional launch") {
    const auto program = program_of(R"(
    mov.u64 %rd1, %clock64;
    mov.u64 %rd2, %clock64;
    sub.u64 %rd3, %rd2, %rd1;
    ld.param.u64 %rd4, [p];
    st.global.u64 [%rd4], %rd3;
    ret;)");
    Memory memory;
    const uint64_t out = memory.allocate(8, "out");
    const LaunchResult result = launch(*program, test::config_of({1}, {32}, {out}), memory);
    REQUIRE(!result.fault);
    uint64_t passed = 0;
    std::memcpy(&passed, memory.read(out, 8), 8);
    CHECK(passed > 0);
    CHECK(passed < 1000);
}

}  // namespace simt_order_test
