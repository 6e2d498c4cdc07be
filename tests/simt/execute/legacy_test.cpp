// Votes and shuffles as they were written before Volta, without .sync and a member mask: among the lanes that are here.
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_legacy_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

TEST_CASE("a vote without .sync asks the lanes that are here, on either side of a branch") {
    const std::string text = text_kernel(R"(
        ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2;
        setp.lt.u32 %p1, %r1, 12; setp.lt.u32 %p2, %r1, 20;
        @%p1 bra LOW;
        vote.ballot.b32 %r2, %p2; vote.all.pred %p3, %p2; vote.any.pred %p4, !%p1; vote.uni.pred %p5, %p2; bra MEET;
    LOW: vote.ballot.b32 %r2, %p2; vote.all.pred %p3, %p2; vote.any.pred %p4, !%p1; vote.uni.pred %p5, %p2;
    MEET: selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 1, 0, %p4; selp.u32 %r5, 1, 0, %p5;
        st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};)");
    for (const bool independent : {false, true}) {
        Memory memory;
        const uint64_t out = memory.allocate(32 * 16, "out");
        LaunchOptions options;
        options.independent = independent;
        REQUIRE(!run_text(text, {1}, {32}, {out}, memory, options).fault);
        const auto got = read_back<uint32_t>(memory, out, 128);
        for (size_t lane = 0; lane < 32; ++lane) {
            INFO(lane);
            const bool low = lane < 12;
            CHECK(got[4 * lane] == (low ? 0xfffu : 0xff000u));  // who is below 20
            CHECK(got[4 * lane + 1] == (low ? 1u : 0u));
            CHECK(got[4 * lane + 2] == (low ? 0u : 1u));
            CHECK(got[4 * lane + 3] == (low ? 1u : 0u));
        }
    }
}

TEST_CASE("a shuffle without .sync moves values as one with it, and needs no member mask") {
    const std::string text = text_kernel(R"(
        ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2;
        mul.lo.u32 %r2, %r1, 3;
        shfl.down.b32 %r3|%p1, %r2, 4, 31; shfl.up.b32 %r4, %r2, 1, 0; shfl.bfly.b32 %r5, %r2, 5, 31;
        shfl.idx.b32 %r6, %r2, 7, 31; @!%p1 mov.u32 %r3, 1000;
        st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};)");
    Memory memory;
    const uint64_t out = memory.allocate(32 * 16, "out");
    REQUIRE(!run_text(text, {1}, {32}, {out}, memory).fault);
    const auto got = read_back<uint32_t>(memory, out, 128);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        INFO(lane);
        CHECK(got[4 * lane] == (lane + 4 < 32 ? 3 * (lane + 4) : 1000));
        CHECK(got[4 * lane + 1] == 3 * (lane ? lane - 1 : 0));
        CHECK(got[4 * lane + 2] == 3 * (lane ^ 5));
        CHECK(got[4 * lane + 3] == 21);
    }
    CHECK(refusal_of("shfl.idx.b32 %r1, %r2, 7, 31, -1;") != "");
    CHECK(refusal_of("vote.sync.any.pred %p1, %p2;") != "");
}

}  // namespace simt_legacy_test
