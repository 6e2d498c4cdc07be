// PTX as it may be written and seldom is: votes and shuffles without .sync, as before Volta, among the lanes that are here;
// vector registers, sums as operands, indices, wide registers.
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

TEST_CASE("a carry out of a subtraction is 0 where it borrows, and a sum reads it so") {
    const std::string text = text_kernel(R"(
        ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x;
        sub.cc.u32 %r2, %r1, 1;      // borrows in thread 0 alone
        addc.u32 %r3, 10, 0;         // 10, and 11 where the flag is set
        sub.cc.u32 %r4, %r1, 1;
        subc.cc.u32 %r5, 20, 0;      // 20, and 19 where it borrowed
        addc.u32 %r6, 0, 0;          // that one never borrows
        mul.wide.u32 %rd2, %r1, 12; add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+4], %r5; st.global.u32 [%rd1+8], %r6;)");
    Memory memory;
    const uint64_t out = memory.allocate(32 * 12, "out");
    REQUIRE(!run_text(text, {1}, {32}, {out}, memory).fault);
    const auto got = read_back<uint32_t>(memory, out, 96);
    for (size_t lane = 0; lane < 32; ++lane) {
        INFO(lane);
        CHECK(got[3 * lane] == (lane == 0 ? 10u : 11u));
        CHECK(got[3 * lane + 1] == (lane == 0 ? 19u : 20u));
        CHECK(got[3 * lane + 2] == 1u);
    }
}

TEST_CASE("vector registers are their parts, by either name, and move as a whole") {
    const std::string text = text_kernel(R"(
        .reg .v4 .f32 v, w; .reg .v2 .u32 pair;
        ld.param.u64 %rd1, [p0];
        ld.global.v4.f32 v, [%rd1];
        add.f32 w.x, v.x, v.y; mul.f32 w.y, v.z, v.w; mov.f32 w.z, v.r; mov.f32 w.w, v.a;
        st.global.v4.f32 [%rd1+16], w;
        mov.u32 pair.x, 7; mov.u32 pair.y, 9; mov.b64 %rd2, pair; st.global.u64 [%rd1+32], %rd2;
        st.global.v2.u32 [%rd1+40], pair;)");
    Memory memory;
    const uint64_t out = put(memory, std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}, "out");
    REQUIRE(!run_text(text, {1}, {1}, {out}, memory).fault);
    const auto got = read_back<float>(memory, out, 8);
    CHECK(got[4] == 3);
    CHECK(got[5] == 12);
    CHECK(got[6] == 1);
    CHECK(got[7] == 4);
    const auto words = read_back<uint32_t>(memory, out, 12);
    CHECK(words[8] == 7);
    CHECK(words[9] == 9);
    CHECK(words[10] == 7);
    CHECK(words[11] == 9);
    CHECK(refusal_of(".reg .v2 .u32 pair; add.u32 %r1, pair, 1;") != "");
    CHECK(refusal_of(".reg .v2 .u32 pair; add.u32 %r1, pair.z, 1;").find("pair.z") != std::string::npos);
}

TEST_CASE("an index counts elements of a variable, and a number is added to an operand") {
    const std::string text = text_kernel(
        R"(
        .local .align 8 .u64 words[4]; .local .align 8 .u64 where;
        ld.param.u64 %rd1, [p0];
        mov.u64 %rd2, words[0]; mov.u64 %rd3, words[2]; sub.u64 %rd4, %rd3, %rd2; st.global.u64 [%rd1], %rd4;
        mov.u64 %rd5, 5; st.local.u64 words[1], %rd5; ld.local.u64 %rd6, [words+8]; st.global.u64 [%rd1+8], %rd6;
        st.local.u64 [where], words + 1; ld.local.u64 %rd7, [where]; sub.u64 %rd7, %rd7, %rd2; st.global.u64 [%rd1+16], %rd7;
        st.global.u64 [%rd1+24], %rd5 + 4; mov.u32 %r1, 3; add.u32 %r2, %r1 + -1, 10; cvt.u64.u32 %rd8, %r2;
        st.global.u64 [%rd1+32], %rd8; ld.global.u32 %r3, table[2]; cvt.u64.u32 %rd9, %r3; st.global.u64 [%rd1+40], %rd9;)",
        1, "", ".global .align 4 .u32 table[4] = {10, 20, 30, 40};\n");
    Memory memory;
    const uint64_t out = memory.allocate(48, "out");
    REQUIRE(!run_text(text, {1}, {1}, {out}, memory).fault);
    const auto got = read_back<uint64_t>(memory, out, 6);
    CHECK(got[0] == 16);
    CHECK(got[1] == 5);
    CHECK(got[2] == 1);
    CHECK(got[3] == 9);
    CHECK(got[4] == 12);
    CHECK(got[5] == 30);
    CHECK(refusal_of("add.f32 %f1, %f2 + 1, %f3;") == "a number is added to a register of whole numbers only");
    CHECK(refusal_of("mov.u32 %r1, %r2[1];").starts_with("only a variable's elements are counted in brackets"));
}

TEST_CASE("a fraction is loaded into a wider register of bits, and stored from one") {
    const std::string text = text_kernel(R"(
        ld.param.u64 %rd1, [p0]; mov.u64 %rd2, -1; ld.global.f32 %rd2, [%rd1];
        st.global.u64 [%rd1+8], %rd2; st.global.f32 [%rd1+4], %rd2;)");
    Memory memory;
    const uint64_t out = put(memory, std::vector<float>{1.5f, 0, 0, 0}, "out");
    REQUIRE(!run_text(text, {1}, {1}, {out}, memory).fault);
    const auto got = read_back<uint32_t>(memory, out, 4);
    CHECK(got[1] == 0x3fc00000u);
    CHECK(got[2] == 0x3fc00000u);
    CHECK(got[3] == 0u);
    CHECK(refusal_of("ld.global.f32 %rd2, [%rd1];") == "");
    CHECK(refusal_of(".reg .u64 whole; ld.global.f32 whole, [%rd1];") != "");
}

}  // namespace simt_legacy_test
