// Blocks that wait for one another: barriers of the whole grid, made by hand and in the workspace of a cooperative launch,
// in launches and in replays of one warp.
#include "core/simt/history/history_memory.h"
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_grid_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// Each block adds one to p0 and waits until all have; then thread 0 of block b writes what it finds there to p1[b].
const std::string all_meet = R"(
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra MEET;
membar.gl;
atom.global.add.u32 %r4, [%rd1], 1;
SPIN: ld.volatile.global.u32 %r5, [%rd1];
setp.lt.u32 %p2, %r5, %r3;
@%p2 bra SPIN;
membar.gl;
MEET: bar.sync 0;
@%p1 bra END;
mad.wide.u32 %rd3, %r2, 4, %rd2;
st.global.u32 [%rd3], %r5;
END:
)";

}  // namespace

TEST_CASE("blocks that wait for all others come through, in every order") {
    const std::string text = text_kernel(all_meet, 2);
    for (const WarpOrder order : {WarpOrder::round_robin, WarpOrder::greedy, WarpOrder::reverse, WarpOrder::random}) {
        Memory memory;
        const uint64_t count = memory.allocate(4, "count"), out = memory.allocate(400, "out");
        LaunchOptions options;
        options.order = order;
        options.resident_blocks = 100;
        const LaunchResult result = run_text(text, {100}, {64}, {count, out}, memory, options);
        CAPTURE(static_cast<int>(order));
        REQUIRE(!result.fault);
        CHECK(result.warp_instructions < 1'000'000);  // they do not look at one another once for each that starts
        CHECK(read_back<uint32_t>(memory, out, 100) == std::vector<uint32_t>(100, 100));
    }
}

TEST_CASE("a launch with more blocks than fit dead-locks where they wait for one another, and says why") {
    Memory memory;
    const uint64_t count = memory.allocate(4, "count"), out = memory.allocate(400, "out");
    LaunchOptions options;
    options.resident_blocks = 99;
    const LaunchResult result = run_text(text_kernel(all_meet, 2), {100}, {64}, {count, out}, memory, options);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "deadlock");
    CHECK(result.fault->message.find("1 block cannot start before one of the 99 that run has ended") != std::string::npos);
}

TEST_CASE("a warp's history goes on behind a wait for other blocks, which run beside it") {
    const auto program = text_program(text_kernel(all_meet, 2));
    Memory before;
    const uint64_t count = before.allocate(4, "count"), out = before.allocate(400, "out");
    for (const Dim3 cluster : {Dim3{}, Dim3{4}})
        for (const uint32_t block : {0u, 7u, 99u}) {
            LaunchConfig config = config_of({100}, {64}, {count, out});
            config.cluster = cluster;
            config.independent = true;
            CAPTURE(cluster.x, block);
            const WarpHistory history = record_warp(*program, config, before, block, 0);
            REQUIRE(!history.fault);
            REQUIRE(!history.truncated);
            CHECK(history.beside);
            CHECK(history.steps.size() < 200);
            CHECK(program->instructions[history.steps.back().pc].kind == ptx::Kind::exit);
            const auto end = static_cast<uint64_t>(history.steps.size() - 1);
            const MemoryAt seen = memory_at(*program, config, before, block, 0, end, true);
            uint32_t found = 0;
            std::memcpy(&found, seen.global.read(out + 4 * block, 4), 4);
            CHECK(found == 100);
            bool any = false;
            for (const LaneValues& v : registers_at(*program, config, before, block, 0, end, true))
                if (v.reg.name == "%r5") {
                    any = true;
                    CHECK(v.bits[0] == 100);
                }
            CHECK(any);
        }
    std::vector<uint32_t> fewer;  // a run that went round less often
    const WarpHistory replay = record_warp(*program, config_of({100}, {64}, {count, out}), before, 5, 0);
    for (const WarpStep& step : replay.steps)
        if (const auto& i = program->instructions[step.pc];
            fewer.empty() || fewer.back() < step.pc || i.kind == ptx::Kind::exit)
            fewer.push_back(step.pc);
    WarpHistory followed = replay;
    follow(followed, fewer);
    REQUIRE(followed.steps.size() == fewer.size());
    for (size_t i = 0; i < fewer.size(); ++i) CHECK(followed.steps[i].pc == fewer[i]);
}

TEST_CASE("a launch whose blocks run all at once has a workspace of zeros; a larger one has none, and its trap says why") {
    // What is there goes to p0[block]; then, once p1 says so, a trap that leaves it dirty.
    const std::string look = R"(
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];
mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd3, {%r2, %r1};
setp.eq.u64 %p1, %rd3, 0;
@%p1 trap;
ld.global.u32 %r3, [%rd3+4];
add.u32 %r3, %r3, 7;
mov.u32 %r4, %ctaid.x; mad.wide.u32 %rd4, %r4, 4, %rd1;
st.global.u32 [%rd4], %r3;
setp.eq.u64 %p2, %rd2, 0;
@%p2 bra END;
st.global.u32 [%rd3+4], %r3;
trap;
END:
)";
    const std::string text = text_kernel(look, 2);
    Memory memory;
    const uint64_t out = memory.allocate(4 * 65, "out");
    const LaunchResult dirty = run_text(text, {64}, {32}, {out, 1}, memory);
    REQUIRE(dirty.fault);
    CHECK(dirty.fault->message.find("grid.sync()") == std::string::npos);
    REQUIRE(!run_text(text, {64}, {32}, {out, 0}, memory).fault);
    CHECK(read_back<uint32_t>(memory, out, 64) == std::vector<uint32_t>(64, 7));
    const uint64_t live = memory.live_bytes();
    REQUIRE(!run_text(text, {64}, {32}, {out, 0}, memory).fault);
    CHECK(memory.live_bytes() == live);  // one workspace a memory
    const LaunchResult refused = run_text(text, {65}, {32}, {out, 0}, memory);
    REQUIRE(refused.fault);
    CHECK(refused.fault->kind == "trap");
    CHECK(refused.fault->message.find("it has 65, and 64 do; launch no more than those") != std::string::npos);
}

TEST_CASE("a history goes on behind a wait that counts its turns, too", "[long]") {
    std::string counting = all_meet;  // no proof that it waits: each turn is another
    const std::string loop = "SPIN: ";
    counting.insert(counting.find(loop) + loop.size(), "add.u32 %r9, %r9, 1; ");
    const auto program = text_program(text_kernel(counting, 2));
    Memory before;
    const uint64_t count = before.allocate(4, "count"), out = before.allocate(400, "out");
    LaunchConfig config = config_of({100}, {64}, {count, out});
    config.independent = true;
    const WarpHistory history = record_warp(*program, config, before, 3, 0);
    CHECK(program->instructions[history.steps.back().pc].kind == ptx::Kind::exit);
}

}  // namespace simt_grid_test
