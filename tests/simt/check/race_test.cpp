// racecheck on small PTX kernels: what counts as ordered and what does not, thread by thread, and what a report says.
#include <fmt/format.h>

#include "core/base/rng.h"
#include "core/ptx/ptx.h"
#include "core/simt/check/checker_state.h"
#include "core/simt/driver.h"
#include "core/simt/execute/execute.h"
#include "core/simt/launch.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace simt_race_test {

using namespace lockstep;
using namespace lockstep::simt;

namespace {

// One kernel over "p", a buffer of words. %r1 is the thread's number in its block, %r2 four times that, %r3 its lane, %rd1
// the buffer, and tile has 1024 words of shared memory. Lines are those of the PTX: line_of finds a marked one.
std::string kernel(const std::string& body) {
    return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
           ".reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b16 %h<5>; .reg .f32 %f<5>;\n"
           ".shared .align 16 .b8 tile[4096];\n"
           "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nand.b32 %r3, %r1, 31;\n"
           "mov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r2;\ncvt.u64.u32 %rd3, %r2;\nadd.u64 %rd2, %rd1, %rd3;\n" +
           body + "\nret;\n}\n";
}

int line_of(const std::string& text, const std::string& mark) {
    const size_t at = text.find("// " + mark);
    REQUIRE(at != std::string::npos);
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

struct Run {
    std::string text;
    LaunchResult result;
};

LaunchOptions racecheck() {
    LaunchOptions options;
    options.racecheck = true;
    return options;
}

Run run(const std::string& body, uint32_t blocks, uint32_t threads, LaunchOptions options = racecheck()) {
    Run r{kernel(body), {}};
    const auto program = ptx::decode(ptx::parse(r.text, "k.ptx").value()).value();
    Memory memory;
    const uint64_t p = memory.allocate(1 << 16, "p");
    r.result = launch(*program, test::config_of({blocks}, {threads}, {p}), memory, options);
    INFO((r.result.fault ? render(*r.result.fault) : ""));
    REQUIRE(!r.result.fault);
    return r;
}

void check_silent(const std::string& body, uint32_t blocks, uint32_t threads) {
    for (const WarpOrder order : {WarpOrder::round_robin, WarpOrder::greedy, WarpOrder::reverse, WarpOrder::random}) {
        LaunchOptions options = racecheck();
        options.order = order;
        const Run r = run(body, blocks, threads, options);
        INFO((r.result.reports.empty() ? "" : render(r.result.reports[0])));
        CHECK(r.result.reports.empty());
    }
}

// Exactly one race, between the marked lines.
Fault check_race(const std::string& body, uint32_t blocks, uint32_t threads, const std::string& first = "a",
                 const std::string& second = "b") {
    Fault report;
    for (const WarpOrder order : {WarpOrder::random, WarpOrder::reverse, WarpOrder::greedy, WarpOrder::round_robin}) {
        LaunchOptions options = racecheck();
        options.order = order;
        const Run r = run(body, blocks, threads, options);
        INFO(body);
        REQUIRE(r.result.reports.size() == 1);
        report = r.result.reports[0];
        INFO(render(report));
        CHECK(report.kind == "racecheck");
        CHECK(report.ptx_line == line_of(r.text, first));
        CHECK(report.other_ptx_line == line_of(r.text, second));
        CHECK(!(report.thread == report.other_thread && report.block == report.other_block));
    }
    return report;
}

}  // namespace

TEST_CASE("a write and another thread's read without a barrier between them is a race, named with both sides") {
    const Fault f =
        check_race("st.shared.u32 [%r4], %r1; // a\n xor.b32 %r5, %r4, 128;\n ld.shared.u32 %r6, [%r5]; // b", 1, 64);
    CHECK(f.allocation == "tile");
    CHECK(f.message ==
          fmt::format("race: write of 4 bytes to shared memory 'tile' +{} by thread ({},0,0) of block (0,0,0) at "
                      "k.ptx:{}, and read by thread ({},0,0) at k.ptx:{}, with no barrier between them",
                      f.offset, f.thread.x, f.ptx_line, f.other_thread.x, f.other_ptx_line));
    CHECK(f.offset == f.thread.x * 4);
    CHECK(f.other_thread.x == (f.thread.x ^ 32));
    CHECK(f.address == f.offset);
}

TEST_CASE("a barrier of the block orders what is before it and what is after it") {
    check_silent(
        "st.shared.u32 [%r4], %r1;\n bar.sync 0;\n xor.b32 %r5, %r4, 128;\n ld.shared.u32 %r6, [%r5];\n bar.sync 0;\n"
        "st.shared.u32 [%r5], %r6;",
        3, 64);
    check_race(
        "st.shared.u32 [%r4], %r1;\n bar.sync 0;\n xor.b32 %r5, %r4, 128;\n ld.shared.u32 %r6, [%r5]; // b\n"
        "st.shared.u32 [%r4], %r6; // a",
        3, 64);
}

TEST_CASE("lanes of a warp are ordered by a warp barrier, not by running in step, except before Volta") {
    const std::string without = "st.shared.u32 [%r4], %r1; // a\n xor.b32 %r5, %r4, 64;\n ld.shared.u32 %r6, [%r5]; // b";
    const Fault f = check_race(without, 1, 32);
    CHECK_THAT(f.message, Catch::EndsWith("with no barrier between them: threads of one warp do not run in step"));
    check_silent("st.shared.u32 [%r4], %r1;\n bar.warp.sync -1;\n xor.b32 %r5, %r4, 64;\n ld.shared.u32 %r6, [%r5];", 1, 32);
    check_silent(
        "st.shared.u32 [%r4], %r1;\n shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;\n xor.b32 %r5, %r4, 64;\n"
        "ld.shared.u32 %r6, [%r5];",
        1, 32);
    LaunchOptions pascal = racecheck();
    pascal.independent = false;
    CHECK(run(without, 1, 32, pascal).result.reports.empty());
    // Two warps run in step with nobody.
    pascal.order = WarpOrder::reverse;
    CHECK(run("st.shared.u32 [%r4], %r1;\n xor.b32 %r5, %r4, 128;\n ld.shared.u32 %r6, [%r5];", 1, 64, pascal)
              .result.reports.size() == 1);
}

TEST_CASE("a warp barrier of some lanes orders those alone") {
    // Quarters of the warp meet; a lane then reads its neighbour's word, or one of the next quarter.
    const std::string meet =
        "st.shared.u32 [%r4], %r1; // a\n and.b32 %r7, %r3, 24;\n mov.u32 %r8, 255;\n shl.b32 %r8, %r8, %r7;\n"
        "bar.warp.sync %r8;\n";
    check_silent(meet + "xor.b32 %r5, %r4, 16;\n ld.shared.u32 %r6, [%r5]; // b", 1, 32);
    check_race(meet + "xor.b32 %r5, %r4, 32;\n ld.shared.u32 %r6, [%r5]; // b", 1, 32);
}

TEST_CASE("one address for all: same values are no race, different ones are") {
    check_silent("mov.u32 %r9, 7;\n st.shared.u32 [tile], %r9;", 1, 64);
    const Fault f = check_race("st.shared.u32 [tile], %r1; // a", 1, 32, "a", "a");
    CHECK_THAT(f.message, Catch::EndsWith("with nothing to say which comes last"));
    check_race("shr.u32 %r9, %r1, 5;\n st.shared.u32 [tile], %r9; // a", 1, 64, "a", "a");
}

TEST_CASE("bytes of one word are told apart") {
    check_silent(
        "mov.u32 %r5, tile;\n add.u32 %r5, %r5, %r1;\n cvt.u16.u32 %h1, %r1;\n st.shared.u8 [%r5], %h1;\n"
        "ld.shared.u8 %h2, [%r5];",
        1, 64);
    check_race(
        "mov.u32 %r5, tile;\n add.u32 %r5, %r5, %r1;\n cvt.u16.u32 %h1, %r1;\n st.shared.u8 [%r5], %h1; // a\n"
        "xor.b32 %r5, %r5, 32;\n ld.shared.u8 %h2, [%r5]; // b",
        1, 64);
    // Words first, then bytes of the same words.
    check_race(
        "st.shared.u32 [%r4], %r1; // a\n mov.u32 %r5, tile;\n add.u32 %r5, %r5, %r1;\n add.u32 %r5, %r5, 128;\n"
        "setp.gt.u32 %p1, %r1, 31;\n @%p1 bra END;\n ld.shared.u8 %h2, [%r5]; // b\nEND:",
        1, 64);
}

TEST_CASE("wide and vector accesses cover all their words") {
    check_race(
        "shl.b32 %r5, %r1, 4;\n mov.u32 %r6, tile;\n add.u32 %r5, %r5, %r6;\n"
        "st.shared.v4.u32 [%r5], {%r1,%r1,%r1,%r1}; // a\n xor.b32 %r5, %r5, 512;\n ld.shared.u32 %r6, [%r5+12]; // b",
        1, 64);
    check_silent(
        "shl.b32 %r5, %r1, 4;\n mov.u32 %r6, tile;\n add.u32 %r5, %r5, %r6;\n"
        "st.shared.v4.u32 [%r5], {%r1,%r1,%r1,%r1};\n ld.shared.u64 %rd5, [%r5+8];",
        1, 64);
}

TEST_CASE("atomics are no race with one another, but with plain accesses of others") {
    check_silent("atom.shared.add.u32 %r5, [tile], 1;\n atom.global.add.u32 %r5, [%rd1], 1;", 3, 64);
    check_race(
        "red.shared.add.u32 [tile], 1; // a\n setp.ne.u32 %p1, %r1, 40;\n @%p1 bra END;\n"
        "ld.shared.u32 %r5, [tile]; // b\nEND:",
        1, 64);
    check_race(
        "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra END;\n st.shared.u32 [tile], 0; // a\nEND:\n"
        "red.shared.add.u32 [tile], 1; // b",
        1, 64);
}

namespace {

// In shared and in global memory: `at` becomes the place of one word of 8 bytes, `.space` its space.
std::vector<std::string> in_both_spaces(const std::string& body) {
    std::vector<std::string> both;
    for (const bool shared : {true, false}) {
        std::string text = body;
        for (size_t at; (at = text.find(".space")) != std::string::npos;)
            text.replace(at, 6, shared ? ".shared" : ".global");
        for (size_t at; (at = text.find("[at]")) != std::string::npos;) text.replace(at, 4, shared ? "[tile]" : "[%rd1]");
        both.push_back(text);
    }
    return both;
}

const std::string add_by_swap =
    "ld.space.u64 %rd5, [at]; // b\nLOOP:\n mov.u64 %rd6, %rd5;\n add.u64 %rd7, %rd6, 1;\n"
    "atom.space.cas.b64 %rd5, [at], %rd6, %rd7; // a\n setp.ne.s64 %p1, %rd5, %rd6;\n @%p1 bra LOOP;\n";
const std::string largest_by_swap =
    "cvt.rn.f32.u32 %f1, %r1;\n ld.space.u32 %r5, [at];\nLOOP:\n mov.b32 %f2, %r5;\n setp.ge.f32 %p1, %f2, %f1;\n"
    "@%p1 bra END;\n mov.u32 %r6, %r5;\n mov.b32 %r7, %f1;\n atom.space.cas.b32 %r5, [at], %r6, %r7;\n"
    "setp.ne.s32 %p1, %r5, %r6;\n @%p1 bra LOOP;\nEND:";

}  // namespace

TEST_CASE("the plain read in front of a compare-and-swap loop is no race, as the swap finds out what it read") {
    for (const std::string& body : in_both_spaces(add_by_swap)) {
        check_silent(body, 1, 64);
        CHECK(run(body, 1, 64).result.notes.empty());
    }
    for (const std::string& body : in_both_spaces(largest_by_swap)) check_silent(body, 1, 64);
    check_silent(in_both_spaces(add_by_swap)[1], 3, 64);  // of other blocks too
    // The sum itself is read behind a barrier, or it is a race.
    const std::string use = "ld.space.u64 %rd8, [at]; // c";
    for (const std::string& body : in_both_spaces(add_by_swap + "bar.sync 0;\n" + use)) check_silent(body, 1, 64);
    for (const std::string& body : in_both_spaces(add_by_swap + use)) check_race(body, 1, 64, "a", "c");
}

TEST_CASE("a plain read in front of an atomic that decides is a hint and no report") {
    // if (thread < *at) atomicMin(at, thread);
    const std::string body =
        "ld.space.u32 %r5, [at]; // b\n setp.ge.u32 %p1, %r1, %r5;\n @%p1 bra END;\n"
        "red.space.min.u32 [at], %r1; // a\nEND:";
    for (const std::string& text : in_both_spaces("mov.u32 %r6, 99;\n st.space.u32 [at], %r6;\n bar.sync 0;\n" + body)) {
        check_silent(text, 1, 64);
        const Run r = run(text, 1, 64);
        REQUIRE(r.result.notes.size() == 1);
        CHECK_THAT(r.result.notes[0], Catch::Contains("is not ordered with the atomic by thread"));
        CHECK_THAT(r.result.notes[0], Catch::Contains(fmt::format("k.ptx:{}", line_of(r.text, "a"))));
        CHECK_THAT(r.result.notes[0], Catch::Contains(fmt::format("k.ptx:{}", line_of(r.text, "b"))));
    }
    // Behind a barrier the atomic does not decide over that read.
    const std::string apart =
        "setp.ne.u32 %p1, %r1, 40;\n @%p1 bra NEXT;\n red.space.add.u32 [at], 1; // a\nNEXT:\n"
        "ld.space.u32 %r5, [at]; // b\n bar.sync 0;\n red.space.add.u32 [at], %r5;";
    for (const std::string& text : in_both_spaces(apart)) check_race(text, 1, 64);
}

TEST_CASE("a plain write is a race with a compare-and-swap and with its read") {
    const std::string body =
        "setp.ne.u32 %p2, %r1, 0;\n @%p2 bra GO;\n st.space.u64 [at], %rd3; // w\n bra END;\nGO:\n" + add_by_swap + "END:";
    for (const std::string& text : in_both_spaces(body)) {
        const Run r = run(text, 1, 64);
        size_t with_swap = 0;
        for (const Fault& f : r.result.reports) {
            INFO(render(f));
            CHECK(f.ptx_line == line_of(r.text, "w"));
            with_swap += f.other_ptx_line == line_of(r.text, "a");
        }
        CHECK(with_swap == 1);
    }
}

TEST_CASE("what a spin lock guards is read plainly, where it is fenced") {
    const std::string locked =
        "setp.ne.u32 %p1, %r3, 0;\n @%p1 bra END;\nLOCK:\n atom.space.cas.b32 %r5, [at], 0, 1;\n"
        "setp.ne.u32 %p2, %r5, 0;\n @%p2 bra LOCK;\n membar.gl;\n ld.space.u32 %r6, [at+64];\n add.u32 %r6, %r6, 1;\n"
        "st.space.u32 [at+64], %r6;\n membar.gl;\n atom.space.exch.b32 %r7, [at], 0;\nEND:";
    std::string text = locked;  // the data beside the lock
    for (const bool shared : {true, false}) {
        text = locked;
        for (size_t at; (at = text.find(".space")) != std::string::npos;)
            text.replace(at, 6, shared ? ".shared" : ".global");
        for (size_t at; (at = text.find("[at")) != std::string::npos;) text.replace(at, 3, shared ? "[tile" : "[%rd1");
        if (shared) text = "mov.u32 %r8, 0;\n st.shared.u32 [tile], %r8;\n bar.sync 0;\n" + text;
        check_silent(text, 1, 128);
    }
}

TEST_CASE("a volatile flag hands over what was written before it, to those who read it") {
    // Thread 32 waits for thread 0's flag; thread 64 reads without waiting.
    const std::string body =
        "setp.ne.u32 %p1, %r1, 0;\n @%p1 bra WAIT;\n st.shared.u32 [tile], 5; // a\n membar.cta;\n"
        "st.volatile.shared.u32 [tile+64], 1;\n bra END;\nWAIT:\n setp.ne.u32 %p1, %r1, 32;\n @%p1 bra OTHER;\n"
        "SPIN:\n ld.volatile.shared.u32 %r5, [tile+64];\n setp.eq.u32 %p2, %r5, 0;\n @%p2 bra SPIN;\n"
        "ld.shared.u32 %r6, [tile];\n bra END;\nOTHER:\n";
    check_silent(body + "END:", 1, 96);
    check_race(body + "setp.ne.u32 %p1, %r1, 64;\n @%p1 bra END;\n ld.shared.u32 %r6, [tile]; // b\nEND:", 1, 96);
}

TEST_CASE("blocks are not ordered, whichever runs first; the block that counts to the end may read all") {
    check_race(
        "mov.u32 %r5, %ctaid.x;\n shl.b32 %r5, %r5, 2;\n cvt.u64.u32 %rd3, %r5;\n add.u64 %rd3, %rd3, %rd1;\n"
        "st.global.u32 [%rd3], %r5; // a\n bar.sync 0;\n ld.global.u32 %r6, [%rd1+4]; // b",
        2, 1);
    // Each block's thread 0 writes, then counts; the last one to count reads what all wrote.
    const std::string last =
        "mov.u32 %r5, %ctaid.x;\n shl.b32 %r6, %r5, 8;\n add.u32 %r6, %r6, %r2;\n cvt.u64.u32 %rd3, %r6;\n add.u64 %rd3, "
        "%rd3, %rd1;\n"
        "st.global.u32 [%rd3+64], %r5; // a\n membar.gl;\n BARRIER\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra JOIN;\n"
        "atom.global.inc.u32 %r7, [%rd1], 3;\n setp.eq.u32 %p2, %r7, 3;\n selp.u32 %r8, 1, 0, %p2;\n st.shared.u32 [tile], "
        "%r8;\n"
        "JOIN:\n bar.sync 0;\n ld.shared.u32 %r8, [tile];\n setp.eq.u32 %p2, %r8, 0;\n @%p2 bra END;\n"
        "add.u32 %r5, %r5, 1;\n and.b32 %r5, %r5, 3;\n shl.b32 %r6, %r5, 8;\n add.u32 %r6, %r6, %r2;\n cvt.u64.u32 %rd3, "
        "%r6;\n"
        "add.u64 %rd3, %rd3, %rd1;\n ld.global.u32 %r9, [%rd3+64]; // b\nEND:";
    std::string good = last, bad = last;
    good.replace(good.find("BARRIER"), 7, "bar.sync 0;");
    bad.replace(bad.find("BARRIER"), 7, "");
    check_silent(good, 4, 64);
    check_race(bad, 4, 64);  // warp 1 has perhaps not written yet when thread 0 counts
}

TEST_CASE("a lock orders what its holders do") {
    const std::string locked =
        "setp.ne.u32 %p1, %r3, 0;\n @%p1 bra END;\nLOCK:\n atom.global.cas.b32 %r5, [%rd1], 0, 1;\n"
        "setp.ne.u32 %p2, %r5, 0;\n @%p2 bra LOCK;\n ld.global.u32 %r6, [%rd1+64];\n add.u32 %r6, %r6, 1;\n"
        "st.global.u32 [%rd1+64], %r6;\n membar.gl;\n atom.global.exch.b32 %r7, [%rd1], 0;\nEND:";
    check_silent(locked, 3, 128);
}

TEST_CASE("named barriers order those who take part: arriving is enough for what came before") {
    // Warp 0 produces and arrives; warp 1 waits and reads; warp 2 does neither.
    const std::string body =
        "shr.u32 %r5, %r1, 5;\n and.b32 %r6, %r2, 127;\n mov.u32 %r7, tile;\n add.u32 %r7, %r7, %r6;\n"
        "setp.ne.u32 %p1, %r5, 0;\n @%p1 bra NEXT;\n st.shared.u32 [%r7], %r1; // a\n bar.arrive 1, 64;\n bra END;\nNEXT:\n"
        "setp.ne.u32 %p1, %r5, 1;\n @%p1 bra THIRD;\n bar.sync 1, 64;\n ld.shared.u32 %r8, [%r7];\n bra END;\nTHIRD:\n";
    check_silent(body + "END:", 1, 96);
    check_race(body + "ld.shared.u32 %r8, [%r7]; // b\nEND:", 1, 96);
    // What comes after the arrival is not ordered.
    std::string late = body + "END:";
    late.replace(late.find("st.shared.u32 [%r7], %r1; // a\n bar.arrive 1, 64;"), 49,
                 "bar.arrive 1, 64;\n st.shared.u32 [%r7], %r1; // a");
    late.replace(late.find("ld.shared.u32 %r8, [%r7];\n"), 26, "ld.shared.u32 %r8, [%r7]; // b\n");
    check_race(late, 1, 96);
}

namespace {

// A product of a warpgroup whose B is the first 256 bytes of tile, into %d0 to %d3 (or, b, %e0 to %e3).
const std::string products =
    ".reg .b32 %a<4>, %x; .reg .f32 %d<4>, %e<4>; .reg .pred %keep; .reg .b64 %q;\nmov.u64 %q, 0x1000080000;\n"
    "setp.eq.u32 %keep, %r1, 0;\nwgmma.fence.sync.aligned;\n";
std::string product(const char* d = "d", const std::string& mark = "") {
    std::string text = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {";
    for (int i = 0; i < 4; ++i) text += (i ? ", %" : "%") + std::string(d) + std::to_string(i);
    return text + "}, {%a0, %a1, %a2, %a3}, %q, %keep, 1, 1, 0;" + (mark.empty() ? "" : " // " + mark) + "\n";
}
const std::string commit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(int pending) {
    return "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";\n";
}

}  // namespace

namespace {

// One report, of the line marked a, because of the product marked b.
Fault check_touched(const std::string& body) {
    const Run r = run(body, 1, 128);
    INFO(body);
    REQUIRE(r.result.reports.size() == 1);
    const Fault report = r.result.reports[0];
    CHECK(report.kind == "racecheck");
    CHECK(report.ptx_line == line_of(r.text, "a"));
    CHECK(report.other_ptx_line == line_of(r.text, "b"));
    return report;
}

}  // namespace

TEST_CASE("a register of a warpgroup's product is not touched before the wait for its group") {
    const std::string use = "st.global.f32 [%rd2], %d0;";
    check_silent(products + product() + product() + commit + wait(0) + use, 1, 128);
    const Fault report = check_touched(products + product("d", "b") + commit + use + " // a");
    CHECK(report.message.find("race: %d0 of a wgmma is used") == 0);
    check_touched(products + product("d", "b") + commit + wait(1) + use + " // a");
    check_touched(products + product("d", "b") + wait(0) + use + " // a");  // in no group yet
    check_touched(products + product("d", "b") + commit + "mov.f32 %d1, 0f00000000; // a\n" + wait(0) + use);
    check_touched(products + product("d", "b") + commit + "mov.b32 %a2, %r1; // a\n" + wait(0) + use);
    // Two groups: the older one has ended, the newer one has not.
    const std::string two = products + product("d") + commit + product("e", "b") + commit + wait(1);
    check_silent(two + use, 1, 128);
    check_silent(two + use + wait(0) + "st.global.f32 [%rd2], %e0;", 1, 128);
    // A copy is under way as what it was copied from.
    const std::string copied = products + product("d", "b") + commit + "mov.f32 %f1, %d0;\n";
    check_silent(copied + wait(0) + "st.global.f32 [%rd2], %f1;", 1, 128);
    check_touched(copied + "st.global.f32 [%rd2], %f1; // a");
    // A loop whose wait leaves one group under way from turn to turn; behind it there is a wait for all, or none.
    const std::string loop = products + "mov.u32 %x, 0;\nLOOP:\n" + product("d", "b") + commit + wait(1) +
                             "add.u32 %x, %x, 1;\nsetp.lt.u32 %p1, %x, 3;\n@%p1 bra LOOP;\n";
    check_silent(loop + wait(0) + use, 1, 128);
    check_touched(loop + use + " // a");
}

TEST_CASE("shared memory that a warpgroup's product reads is not written before the wait for its group") {
    const std::string write = "st.shared.u32 [%r4], %r1;";  // 512 bytes, of which the product reads 256
    const auto body = [&](const std::string& between, const std::string& mark) {
        return products + product("d", "b") + commit + between + "bar.sync 0;\n" + write + mark;
    };
    check_silent(body(wait(0), ""), 1, 128);
    const Run r = run(body("", " // a"), 1, 128);
    REQUIRE(r.result.reports.size() == 1);
    INFO(render(r.result.reports[0]));
    CHECK(r.result.reports[0].kind == "racecheck");
    CHECK(r.result.reports[0].ptx_line == line_of(r.text, "a"));
    CHECK(r.result.reports[0].other_ptx_line == line_of(r.text, "b"));
    CHECK(r.result.reports[0].message.find("may still read it: no wgmma.wait_group between them") != std::string::npos);
    CHECK(r.result.reports[0].allocation == "tile");
    // Beyond what it reads, and behind the wait, writes are as fast and as fine as ever.
    check_silent(
        products + product() + commit + "bar.sync 0;\nst.shared.u32 [%r4+256], %r1;\n" + wait(0) + "bar.sync 0;\n" + write,
        1, 128);
}

TEST_CASE("racecheck says when it looks away from what may be a race") {
    const std::string body =
        "mov.u32 %r5, %ctaid.x;\n shl.b32 %r6, %r5, 2;\n cvt.u64.u32 %rd3, %r6;\n add.u64 %rd3, %rd3, %rd1;\n"
        "st.global.u32 [%rd3+64], %r5;\n membar.gl;\n atom.global.add.u32 %r7, [%rd1], 1;\n"
        "mov.u32 %r8, %nctaid.x;\n sub.u32 %r8, %r8, 1;\n setp.ne.u32 %p1, %r7, %r8;\n @%p1 bra END;\n"
        "mov.u32 %r9, 0;\nLOOP:\n shl.b32 %r6, %r9, 2;\n cvt.u64.u32 %rd3, %r6;\n add.u64 %rd3, %rd3, %rd1;\n"
        "ld.global.u32 %r10, [%rd3+64];\n add.u32 %r9, %r9, 1;\n setp.le.u32 %p2, %r9, %r8;\n @%p2 bra LOOP;\nEND:";
    const Run few = run(body, 40, 1), many = run(body, 300, 1);
    CHECK(few.result.reports.empty());
    CHECK(few.result.notes.empty());
    CHECK(many.result.reports.empty());
    REQUIRE(many.result.notes.size() == 1);
    CHECK(many.result.notes[0].find("racecheck looked away") == 0);
}

TEST_CASE("each pair of lines and each variable is reported once, and no more than a hundred in all") {
    std::string many;
    for (int i = 0; i < 110; ++i)
        many +=
            fmt::format("st.shared.u32 [%r4+{}], %r1;\nxor.b32 %r5, %r4, 128;\nld.shared.u32 %r6, [%r5+{}];\nbar.sync 0;\n",
                        i % 2 ? 0 : 2048, i % 2 ? 0 : 2048);
    const Run r = run(many, 4, 64);
    REQUIRE(r.result.reports.size() == 100);
    CHECK_THAT(r.result.reports.back().message, Catch::EndsWith("; and 10 more reports"));
}

namespace {

// Random accesses of every size and shape to shared and to global memory, some in order and most of them not.
struct Accesses {
    Rng rng;
    std::string body;
    uint32_t labels = 0;
    uint32_t pick(uint64_t n) { return static_cast<uint32_t>(rng.below(n)); }

    // %r5 = an offset in bytes, a multiple of `bytes`, below 2048 + 64 * 16.
    void offset(uint32_t bytes) {
        static const char* const shapes[] = {
            "mov.u32 %r5, %r1;",      // one after the other
            "and.b32 %r5, %r1, 15;",  // the same for both halves
            "and.b32 %r5, %r1, 31;",  // for all warps
            "mov.u32 %r5, 3;",        // one
            "shr.u32 %r5, %r1, 4;",   // one for each half
            "shl.b32 %r5, %r1, 1;",   // every second
            "xor.b32 %r5, %r1, 31;",  // backwards
            "mad.lo.u32 %r5, %r1, 7, 5; and.b32 %r5, %r5, 63;",
            "shl.b32 %r5, %r1, 1; and.b32 %r5, %r5, 33; add.u32 %r5, %r5, %r3;",  // halves that share cells
            "and.b32 %r5, %r1, 16; mad.lo.u32 %r5, %r5, 4, %r3;",                 // halves far from one another
        };
        body += shapes[pick(3) ? pick(5) : pick(std::size(shapes))];
        body += fmt::format(" and.b32 %r5, %r5, 127; mul.lo.u32 %r5, %r5, {}; and.b32 %r5, %r5, 2047;\n", bytes);
    }
    void access() {
        static const struct {
            const char *type, *values;
            uint32_t bytes;
        } sizes[] = {{".u32", "%r8", 4},
                     {".u8", "%h1", 1},
                     {".u16", "%h1", 2},
                     {".u64", "%rd5", 8},
                     {".v2.u32", "{%r8, %r9}", 8},
                     {".v4.u32", "{%r8, %r9, %r10, %r11}", 16},
                     {".v2.u64", "{%rd5, %rd6}", 16},
                     {".v4.u8", "{%h1, %h2, %h3, %h4}", 4}};
        const auto& size = sizes[pick(2) ? 0 : pick(std::size(sizes))];
        offset(size.bytes);
        const bool shared = pick(3) > 0;
        body +=
            shared ? "mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;\n" : "cvt.u64.u32 %rd4, %r5; add.u64 %rd4, %rd1, %rd4;\n";
        const std::string space = shared ? ".shared" : ".global", base = shared ? "%r6" : "%rd4";
        // Several accesses through one base: the quickest way is for those. Some by a part of the lanes.
        const uint32_t part = pick(5);
        if (part == 0) body += fmt::format("@%p{} bra AROUND{};\n", 1 + pick(2), ++labels);
        for (uint32_t n = 1 + pick(3); n > 0; --n) {
            const std::string at = fmt::format("[{} + {}]", base, pick(2) ? 0 : pick(pick(2) ? 4 : 64) * size.bytes);
            const char* const guards[] = {"", "", "", "", "@%p1 ", "@%p2 "};
            const std::string guard = guards[pick(std::size(guards))];
            const uint32_t kind = pick(12);
            if (kind == 0 && size.bytes == 4)
                body += guard + "atom" + space + ".add.u32 %r7, " + at + ", 1;\n";
            else if (kind == 1 && size.bytes <= 8)
                body += guard + (pick(2) ? "ld.volatile" : "ld.relaxed.gpu") + space + size.type + " " + size.values + ", " +
                        at + ";\n";
            else if (kind == 2 && size.bytes <= 8)
                body += guard + "st.volatile" + space + size.type + " " + at + ", " + size.values + ";\n";
            else if (kind < 6)
                body += guard + "st" + space + size.type + " " + at + ", " + size.values + ";\n";
            else
                body += guard + "ld" + space + size.type + " " + size.values + ", " + at + ";\n";
        }
        if (part == 0) body += fmt::format("AROUND{}:\n", labels);
        const uint32_t then = pick(8);
        if (then < 3) body += "bar.sync 0;\n";
        if (then == 3) body += "bar.warp.sync -1;\n";
        if (then == 4) body += "mov.u32 %r8, %r1; mov.u32 %r9, 5;\n";
    }
    std::string make() {
        body =
            "setp.lt.u32 %p1, %r3, 20;\n and.b32 %r12, %r1, 1; setp.eq.u32 %p2, %r12, 0;\n"
            "mov.u32 %r8, %r1; mov.u32 %r9, 5; mov.u32 %r10, %r1; mov.u32 %r11, 6; cvt.u16.u32 %h1, %r1; mov.u16 %h2, 3; "
            "mov.u16 %h3, %h1; mov.u16 %h4, %h2; cvt.u64.u32 "
            "%rd5, %r1; mov.u64 %rd6, 9;\n";
        if (pick(2)) body += "st.shared.u32 [%r4], %r1; st.shared.u32 [%r4 + 1024], 7; bar.sync 0;\n";
        if (pick(2)) body += "st.global.u32 [%rd2], %r1;\n";
        for (uint32_t n = pick(9) ? 3 + pick(12) : 1; n > 0; --n) access();
        return kernel(body);
    }
};

std::string line_at(const std::string& text, std::ptrdiff_t at) {
    const auto place = static_cast<size_t>(at);
    const size_t begin = place ? text.rfind('\n', place - 1) + 1 : 0;
    return text.substr(begin, text.find('\n', place) - begin);
}

// All that the checkers say of a launch, by one executor, in turns of `turn` instructions.
std::string all_said(const ptx::Program& program, const Executor& executor, uint32_t threads, uint64_t turn,
                     bool lane_by_lane) {
    Memory memory;
    const uint64_t p = memory.allocate(1 << 13, "p");
    memory.mark_unwritten(p);
    const LaunchConfig config = test::config_of({3}, {threads}, {p});
    Grid grid = make_grid(program, config, memory);
    grid.independent = true;
    LaunchOptions options;
    options.racecheck = options.initcheck = true;
    begin_checks(grid, options);
    grid.checker->state->lane_by_lane = lane_by_lane;
    std::string said;
    for (uint32_t b = 0; b < 3; ++b) {
        Block block = make_block(grid, b);
        uint64_t ran = 0;
        const auto one_turn = [&](Warp& warp) -> std::optional<WarpEvent> { return executor.run(warp, turn, ran); };
        if (const auto fault = drive(block, one_turn)) said += render(*fault) + "\n";
    }
    for (const std::string& note : notes_of(grid)) said += note + "\n";
    for (const Fault& f : take_reports(grid))
        said += fmt::format("{} pc {} offset {} other pc {} block {} thread {}\n", render(f), f.pc, f.offset, f.other_pc,
                            f.other_block.x, f.other_thread.x);
    return said;
}

}  // namespace

TEST_CASE("the quick ways of the checkers say to the letter what looking at lane after lane says") {
    size_t reports = 0, silent = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        Accesses accesses{.rng = Rng(seed), .body = {}};
        const std::string text = accesses.make();
        const auto program = ptx::decode(ptx::parse(text, "k.ptx").value()).value();
        const uint32_t threads = seed % 3 == 0 ? 80 : 96;
        const uint64_t turn = seed % 2 ? 1 << 14 : 1 + seed % 13;
        const std::string plain = all_said(*program, executor(ptx::Simd::portable), threads, turn, true);
        reports += static_cast<size_t>(std::count(plain.begin(), plain.end(), '\n'));
        silent += plain.empty();
        for (const ptx::Simd simd : {ptx::Simd::portable, ptx::Simd::avx2, ptx::Simd::avx512}) {
            if (!executor(simd).run) continue;
            const std::string quick = all_said(*program, executor(simd), threads, turn, false);
            const auto [a, b] = std::mismatch(quick.begin(), quick.end(), plain.begin(), plain.end());
            INFO("seed " << seed << "\n"
                         << text << "\nquick: " << line_at(quick, a - quick.begin())
                         << "\nplain: " << line_at(plain, b - plain.begin()));
            REQUIRE(quick == plain);
        }
    }
    CHECK(reports > 1000);  // the programs are worth something
    CHECK(silent > 0);
}

TEST_CASE("a launch whose checker is off reports nothing and finds the same results") {
    const Run r =
        run("st.shared.u32 [%r4], %r1;\n xor.b32 %r5, %r4, 128;\n ld.shared.u32 %r6, [%r5];", 1, 64, LaunchOptions{});
    CHECK(r.result.reports.empty());
}

}  // namespace simt_race_test
