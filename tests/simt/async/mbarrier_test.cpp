// mbarrier as PTX text: phases, parities, counts, bytes, copies that arrive by themselves, and what is a fault.
#include "tests/catch.h"
#include "tests/simt/text.h"

namespace simt_mbarrier_test {

using namespace lockstep;
using namespace lockstep::simt;
using namespace lockstep::simt::test;

namespace {

// p0 out. %r1 the thread, %r2 the mbarrier, %r3 words in shared memory, %rd3 the thread's word of `out`.
const std::string prologue = R"(
.shared .align 8 .b64 bar[4];
.shared .align 16 .b8 data[4096];
mov.u32 %r1, %tid.x;
mov.u32 %r2, bar;
mov.u32 %r3, data;
ld.param.u64 %rd1, [p0];
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd3, %rd1, %rd2;
setp.eq.u32 %p1, %r1, 0;
)";
std::string made_for(const std::string& count) {
    return prologue + "@%p1 mbarrier.init.shared::cta.b64 [%r2], " + count + ";\nbar.sync 0;\n";
}

LaunchResult launched(const std::string& body, std::vector<uint32_t>* out = nullptr, uint32_t threads = 64,
                      const LaunchOptions& options = {}) {
    Memory memory;
    const uint64_t at = memory.allocate(threads * 4, "out");
    LaunchResult result = run_text(text_kernel(body), {1}, {threads}, {at}, memory, options);
    if (out) *out = read_back<uint32_t>(memory, at, threads);
    return result;
}
std::vector<uint32_t> outcome(const std::string& body, uint32_t threads = 64, const LaunchOptions& options = {}) {
    std::vector<uint32_t> out;
    const LaunchResult result = launched(body, &out, threads, options);
    INFO((result.fault ? render(*result.fault) : ""));
    REQUIRE(!result.fault);
    return out;
}
std::string trouble(const std::string& body, uint32_t threads = 64) {
    const LaunchResult result = launched(body, nullptr, threads);
    return result.fault ? result.fault->kind + ": " + result.fault->message : "";
}
void contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("threads that arrive and spin on the state of their arrival meet in every phase, in every order of warps") {
    // Each round: a word is written, all meet, and the neighbour's word is read and added.
    const std::string body = made_for("96") + R"(
mov.u32 %r10, 0;
mov.u32 %r11, 0;
mad.lo.u32 %r4, %r1, 4, %r3;
add.u32 %r5, %r1, 1;
setp.eq.u32 %p2, %r5, 96;
selp.u32 %r5, 0, %r5, %p2;
mad.lo.u32 %r5, %r5, 4, %r3;
round:
mad.lo.u32 %r6, %r10, 1000, %r1;
st.shared.u32 [%r4], %r6;
mbarrier.arrive.shared.b64 %rd5, [%r2];
wait1:
mbarrier.try_wait.shared.b64 %p3, [%r2], %rd5;
@!%p3 bra wait1;
ld.shared.u32 %r7, [%r5];
add.u32 %r11, %r11, %r7;
mbarrier.arrive.release.cta.shared::cta.b64 %rd5, [%r2];
wait2:
mbarrier.test_wait.acquire.cta.shared::cta.b64 %p3, [%r2], %rd5;
@!%p3 bra wait2;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p4, %r10, 5;
@%p4 bra round;
st.global.u32 [%rd3], %r11;
)";
    for (const WarpOrder order : {WarpOrder::round_robin, WarpOrder::greedy, WarpOrder::reverse, WarpOrder::random}) {
        LaunchOptions options;
        options.order = order;
        const auto got = outcome(body, 96, options);
        for (uint32_t t = 0; t < 96; ++t) CHECK(got[t] == 5 * ((t + 1) % 96) + 1000 * (0 + 1 + 2 + 3 + 4));
    }
}

TEST_CASE("a producer warp and a consumer warp hand a buffer to and fro by parity") {
    // bar[0] full, bar[1] empty; warp 0 writes 10 values, warp 1 sums them.
    const std::string body = prologue + R"(
@%p1 mbarrier.init.shared.b64 [%r2], 32;
@%p1 mbarrier.init.shared.b64 [%r2+8], 32;
bar.sync 0;
and.b32 %r4, %r1, 31;
mad.lo.u32 %r5, %r4, 4, %r3;
mov.u32 %r10, 0;
mov.u32 %r11, 0;
setp.ge.u32 %p2, %r1, 32;
@%p2 bra consume;
produce:
and.b32 %r12, %r10, 1;
xor.b32 %r12, %r12, 1;
empty:
mbarrier.try_wait.parity.shared.b64 %p3, [%r2+8], %r12;
@!%p3 bra empty;
mad.lo.u32 %r6, %r10, 100, %r4;
st.shared.u32 [%r5], %r6;
mbarrier.arrive.shared.b64 _, [%r2];
add.u32 %r10, %r10, 1;
setp.lt.u32 %p4, %r10, 10;
@%p4 bra produce;
bra done;
consume:
and.b32 %r12, %r10, 1;
full:
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r2], %r12, 1000;
@!%p3 bra full;
ld.shared.u32 %r6, [%r5];
add.u32 %r11, %r11, %r6;
mbarrier.arrive.shared.b64 %rd6, [%r2+8];
add.u32 %r10, %r10, 1;
setp.lt.u32 %p4, %r10, 10;
@%p4 bra consume;
done:
st.global.u32 [%rd3], %r11;
)";
    for (const WarpOrder order : {WarpOrder::round_robin, WarpOrder::reverse, WarpOrder::random}) {
        LaunchOptions options;
        options.order = order;
        const auto got = outcome(body, 64, options);
        for (uint32_t t = 0; t < 32; ++t) CHECK(got[32 + t] == 10 * t + 100 * 45);
    }
}

TEST_CASE("arrivals count, drop, and leave a state that tells what was pending") {
    // One thread alone: 5 expected.
    const auto got = outcome(made_for("5") + R"(
@!%p1 bra done;
mbarrier.arrive.shared.b64 %rd5, [%r2], 2;
mbarrier.pending_count.b64 %r10, %rd5;
mbarrier.arrive.noComplete.shared.b64 %rd6, [%r2], 1;
mbarrier.pending_count.b64 %r11, %rd6;
mbarrier.test_wait.shared.b64 %p3, [%r2], %rd5;
selp.u32 %r12, 1, 0, %p3;
mbarrier.arrive_drop.shared.b64 %rd7, [%r2], 2;
mbarrier.test_wait.shared.b64 %p3, [%r2], %rd5;
selp.u32 %r13, 1, 0, %p3;
mbarrier.arrive.shared.b64 %rd8, [%r2];
mbarrier.pending_count.b64 %r14, %rd8;
mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;
selp.u32 %r15, 1, 0, %p3;
mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 1;
selp.u32 %r16, 1, 0, %p3;
mbarrier.arrive.shared.b64 _, [%r2], 2;
mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 1;
selp.u32 %r17, 1, 0, %p3;
mbarrier.inval.shared.b64 [%r2];
st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
st.global.v4.u32 [%rd1+16], {%r14, %r15, %r16, %r17};
done:
)");
    // 5 - 2 = 3, 3 - 1 = 2 pending; 2 dropped end phase 0, and 3 are expected from then on; 1 + 2 end phase 1.
    CHECK(std::vector<uint32_t>(got.begin(), got.begin() + 8) == std::vector<uint32_t>{5, 3, 0, 1, 3, 1, 0, 1});
}

TEST_CASE("a phase waits for bytes as for arrivals") {
    const auto got = outcome(made_for("1") + R"(
@!%p1 bra done;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 100;
mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 28;
mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;
selp.u32 %r10, 1, 0, %p3;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 127;
mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;
selp.u32 %r11, 1, 0, %p3;
mbarrier.complete_tx.shared.b64 [%r2], 1;
mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;
selp.u32 %r12, 1, 0, %p3;
cvta.shared.u64 %rd9, %rd8;
mov.u64 %rd8, bar;
cvta.shared.u64 %rd9, %rd8;
mbarrier.complete_tx.b64 [%rd9], 5;
mbarrier.arrive.expect_tx.b64 %rd5, [%rd9], 5;
mbarrier.try_wait.parity.b64 %p3, [%rd9], 1;
selp.u32 %r13, 1, 0, %p3;
st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
done:
)");
    CHECK(std::vector<uint32_t>(got.begin(), got.begin() + 4) == std::vector<uint32_t>{0, 0, 1, 1});
}

TEST_CASE("copies arrive at an mbarrier by themselves, and are seen through it alone") {
    for (const std::string noinc : {"", ".noinc"}) {
        Memory memory;
        std::vector<uint32_t> values(64);
        for (uint32_t i = 0; i < 64; ++i) values[i] = 7 * i + 1;
        const uint64_t in = put(memory, values, "in"), out = memory.allocate(512, "out");
        // noinc: the 64 arrivals are those of the copies; else each thread arrives besides.
        const std::string body = made_for("64") + R"(
ld.param.u64 %rd6, [p1];
add.u64 %rd7, %rd6, %rd2;
mad.lo.u32 %r5, %r1, 4, %r3;
cp.async.ca.shared.global [%r5], [%rd7], 4;
cp.async.mbarrier.arrive)" + noinc +
                                 R"(.shared.b64 [%r2];
bar.sync 0;
xor.b32 %r6, %r1, 33;
mad.lo.u32 %r6, %r6, 4, %r3;
ld.shared.u32 %r8, [%r6];
bar.sync 0;
)" + (noinc.empty() ? "mbarrier.arrive.shared.b64 _, [%r2];\n" : "") +
                                 R"(wait:
mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;
@!%p3 bra wait;
ld.shared.u32 %r9, [%r6];
st.global.u32 [%rd3], %r8;
st.global.u32 [%rd3+256], %r9;
)";
        const LaunchResult result = run_text(text_kernel(body, 2), {1}, {64}, {out, in}, memory);
        INFO((result.fault ? render(*result.fault) : ""));
        REQUIRE(!result.fault);
        const auto got = read_back<uint32_t>(memory, out, 128);
        for (uint32_t t = 0; t < 64; ++t) {
            CHECK(got[t] == 0);  // too early
            CHECK(got[64 + t] == values[t ^ 33]);
        }
    }
}

TEST_CASE("an mbarrier that is none, is damaged or gets too much is a fault") {
    contains(trouble(prologue + "mbarrier.arrive.shared.b64 _, [%r2];"),
             "synccheck: there is no mbarrier at offset 0 of the block's shared memory: no mbarrier.init has run there");
    contains(trouble(made_for("1") + "mbarrier.arrive.shared.b64 _, [%r2+8];"), "no mbarrier at offset 8");
    contains(
        trouble(made_for("1") + "@%p1 mbarrier.inval.shared.b64 [%r2]; mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;"),
        "there is no mbarrier");
    contains(trouble(made_for("1") + "mov.u64 %rd5, 0; st.shared.u64 [%r2], %rd5; mbarrier.arrive.shared.b64 _, [%r2];"),
             "has been overwritten by other stores");
    contains(trouble(made_for("3") + "@%p1 mbarrier.arrive.shared.b64 _, [%r2], 4;"),
             "4 arrivals at the mbarrier at offset 0 of the block's shared memory, which expects only 3 more in this phase");
    contains(trouble(made_for("3") + "@%p1 mbarrier.arrive.noComplete.shared.b64 _, [%r2], 3;"), "would end the phase");
    contains(trouble(made_for("0")), "1 to 1048575 arrivals, not 0");
    contains(trouble(made_for("1") + "@%p1 mbarrier.expect_tx.shared.b64 [%r2], 1048576;"), "at most 1048575 either way");
    contains(trouble(made_for("1") + "mbarrier.arrive.shared.b64 _, [%r2+4];"), "misaligned shared atomic of 8 bytes");
    contains(trouble(made_for("1") + "mbarrier.arrive.shared.b64 _, [%r2+8192];"), "invalid shared atomic of 8 bytes");
    contains(trouble(made_for("1") + "mbarrier.arrive.b64 _, [%rd1];"), "does not point to shared memory");
    contains(trouble(made_for("1") +
                     "@%p1 mbarrier.expect_tx.shared.b64 [%r2], 8; cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];"
                     "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0; @!%p3 bra wait;"),
             "cp.async.mbarrier.arrive on line");
    contains(refusal_of("mbarrier.arrive.release.cluster.shared::cluster.b64 %rd1, [%r1];"), "its first operand is _");
    contains(refusal_of("mbarrier.try_wait.parity.shared.b64 %r1, [%r1], 0;"), "gives .pred");
    contains(refusal_of("mbarrier.arive.shared.b64 _, [%r1];"), "mbarrier.arriv");
}

TEST_CASE("a wait that never ends says for which phase of which mbarrier, and what is missing") {
    LaunchOptions options;
    options.max_instructions = 100'000;
    const LaunchResult result = launched(made_for("65") + R"(
@%p1 mbarrier.expect_tx.shared.b64 [%r2], 512;
mbarrier.arrive.shared.b64 _, [%r2];
wait:
mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;
@!%p3 bra wait;
)",
                                         nullptr, 64, options);
    REQUIRE(result.fault);
    INFO(render(*result.fault));
    CHECK((result.fault->kind == "runaway" || result.fault->kind == "deadlock"));
    contains(result.fault->message, "for the phase of parity 0 of the mbarrier at offset 0 of its shared memory");
    contains(result.fault->message, "which still expects 1 arrival of 65 and 512 bytes");
}

}  // namespace simt_mbarrier_test
