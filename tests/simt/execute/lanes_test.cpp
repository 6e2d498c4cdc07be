// Lane-wise instructions with two results, run by a part of a warp: idle lanes keep both, predicates and carries too.
#include <cstring>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_lanes_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// Runs statements in 32 threads; %r0 is the lane. What is in %r1, %r2 and, as 0 or 1, in %p1 comes back.
struct Outcome {
    uint32_t words[3][32];
};
Outcome run_lanes(const std::string& statements) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n"
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, 7;\nmov.u32 %r2, 8;\nsetp.eq.u32 %p1, %r0, 99;\n" +
        statements +
        "ld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
        "selp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+128], %r2;\n"
        "st.global.u32 [%rd1+256], %r3;\nret;\n}\n";
    const auto module = ptx::parse(text, "lanes.ptx");
    REQUIRE(module);
    const auto program = ptx::decode(module.value(), "k");
    if (!program) FAIL(program.error().message << " in " << program.error().source_line);
    Memory memory;
    const uint64_t out = memory.allocate(384, "out");
    std::vector<std::byte> parameters(8);
    std::memcpy(parameters.data(), &out, 8);
    const LaunchConfig config{{1, 1, 1}, {32, 1, 1}, 0, parameters};
    const LaunchResult result = launch(*program.value(), config, memory, {});
    REQUIRE(!result.fault);
    Outcome outcome;
    std::memcpy(outcome.words, read_back<uint32_t>(memory, out, 96).data(), sizeof outcome.words);
    return outcome;
}

}  // namespace

TEST_CASE("lop3 with a predicate writes both results in the lanes that run, and neither elsewhere") {
    const Outcome o = run_lanes(
        "setp.lt.u32 %p2, %r0, 16;\nsetp.eq.u32 %p3, %r0, %r0;\n"
        "@%p2 lop3.and.b32 %r1|%p1, %r0, 12, 0, 0xc0, %p3;\n");  // %r0 & 12
    for (uint32_t lane = 0; lane < 32; ++lane) {
        INFO(lane);
        CHECK(o.words[0][lane] == (lane < 16 ? lane & 12 : 7));
        CHECK(o.words[2][lane] == (lane < 16 ? (lane & 12) != 0 : 0));
    }
}

TEST_CASE("a carry survives the lanes that another branch runs") {
    const Outcome o = run_lanes(
        "setp.lt.u32 %p2, %r0, 16;\nmov.u32 %r4, 0xffffffff;\n"
        "@%p2 add.cc.u32 %r5, %r4, 1;\n"   // carries in the lower half
        "@!%p2 add.cc.u32 %r5, %r4, 0;\n"  // does not in the upper
        "addc.u32 %r1, %r0, 0;\n");
    for (uint32_t lane = 0; lane < 32; ++lane) CHECK(o.words[0][lane] == lane + (lane < 16 ? 1 : 0));
}

TEST_CASE("a comparison of pairs gives two predicates, and selection takes a negated one") {
    const Outcome o = run_lanes(
        "mov.b32 %r4, 0x3c003c00;\nmov.b32 %r5, 0x40003800;\n"  // 1, 1 against 0.5 (low), 2 (high)
        "setp.lt.f16x2 %p1|%p2, %r4, %r5;\n"
        "selp.u32 %r1, 1, 2, !%p2;\nor.pred %p3, %p1, !%p2;\nselp.u32 %r2, 1, 2, %p3;\n");
    CHECK(o.words[2][5] == 0);
    CHECK(o.words[0][5] == 2);
    CHECK(o.words[1][5] == 2);
}

TEST_CASE("a program that asks for the system's own shared memory has 1 KiB of it, behind its own") {
    const Outcome o = run_lanes(
        ".shared .b8 own[100];\nmov.u32 %r1, %reserved_smem_offset_1;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r1, %r2, 4, %r1;\n"
        "st.shared.u32 [%r1], %r2;\nbar.warp.sync -1;\nxor.b32 %r2, %r2, 31;\nmov.u32 %r1, %reserved_smem_offset_1;\n"
        "mad.lo.u32 %r1, %r2, 4, %r1;\nld.shared.u32 %r1, [%r1];\nmov.u32 %r2, %reserved_smem_offset_end;\n"
        "mov.u32 %r3, %reserved_smem_offset_begin;\nsub.u32 %r2, %r2, %r3;\nmov.u32 %r4, %total_smem_size;\n"
        "mad.lo.u32 %r2, %r2, 1000, %r4;\nmov.u32 %r4, %aggr_smem_size;\nadd.u32 %r2, %r2, %r4;\n");
    for (uint32_t lane = 0; lane < 32; ++lane) CHECK(o.words[0][lane] == 31 - lane);
    CHECK(o.words[1][0] == 1024 * 1000 + 100 + 128 + 1024);
}

TEST_CASE("a warp reads special registers of 16 bits, and zeros where this machine counts nothing") {
    const Outcome o = run_lanes(
        "mov.u16 %h1, %tid.x;\ncvt.u32.u16 %r1, %h1;\nmov.u32 %r2, %pm3;\nmov.u32 %r4, %envreg7;\n"
        "add.u32 %r2, %r2, %r4;\n");
    for (uint32_t lane = 0; lane < 32; ++lane) CHECK(o.words[0][lane] == lane);
    CHECK(o.words[1][31] == 0);
}

}  // namespace simt_lanes_test
