// The plain SM and the fast one run random programs and have to agree in every cycle of every warp.
#include <algorithm>
#include <memory>

#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/model/cases.h"
#include "tests/model/random_program.h"
#include "tests/model/side_by_side.h"

namespace model_plain_sm_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

GpuSpec any_gpu(Rng& rng) {
    GpuSpec gpu = gpus()[rng.below(gpus().size())];
    gpu.sms.value = 1 + static_cast<uint32_t>(rng.below(3));
    gpu.scheduler.value = static_cast<SchedulerPolicy>(rng.below(3));
    return gpu;
}

void check_programs(uint64_t first, uint64_t count) {
    for (uint64_t seed = first; seed < first + count; ++seed) {
        Rng rng(seed);
        const RandomProgram made(rng);
        const auto program = ptx::decode(ptx::parse(made.text(), "random.ptx").value(), "k").value();
        const GpuSpec gpu = any_gpu(rng);
        TimedOptions options;
        options.traced_sm = static_cast<uint32_t>(rng.below(gpu.sms));
        options.most_blocks_per_sm = static_cast<uint32_t>(rng.below(4));
        INFO("seed " << seed << " on " << gpu.name << " with " << gpu.sms << " SMs");
        const std::string found = difference(gpu, *program, made.launch(), options);
        if (!found.empty()) FAIL(found << "\n" << made.text());
    }
}

}  // namespace

TEST_CASE("the plain SM and the fast one agree in every cycle of 500 random programs") {
    check_programs(1, 500);
}

TEST_CASE("and of 1,500 more", "[long]") {
    if (exhaustive()) check_programs(501, 1500);
}

TEST_CASE("and of random programs made by hand") {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        const Case c = make_case(seed);
        INFO("seed " << seed);
        const Launch it{c.config, c.memory, {{c.address, c.words * 4}}};
        CHECK(difference(some_gpu(seed), c.program, it) == "");
    }
}

// A wait at an mbarrier is none at a barrier of the block: what is known of that one is long over.
TEST_CASE("and of warps that wait at an mbarrier long after a barrier, where the clock never goes back") {
    const auto program = ptx::decode(ptx::parse(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p_out)
{
    .reg .pred %p<6>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<6>;
    .shared .align 8 .b64 counts;
    ld.param.u64 %rd1, [p_out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, counts;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], 1;
READY:
    bar.sync 0;
    mov.u32 %r3, 300;
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra WORK;
AGAIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
    @!%p3 bra AGAIN;
    bra.uni DONE;
WORK:
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p4, %r3, 0;
    @%p4 bra WORK;
    @%p1 bra DONE;
    mbarrier.arrive.shared::cta.b64 %rd4, [%r2];
DONE:
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
)",
                                                "waits.ptx")
                                         .value(),
                                     "k")
                             .value();
    Launch it;
    const uint64_t out = simt::test::put(it.memory, std::vector<uint32_t>(128), "out");
    it.config = simt::test::config_of({1}, {128}, {out});
    it.buffers = {{out, 128 * 4}};
    const GpuSpec gpu = model::gpu_named("h100").value();
    CHECK(difference(gpu, *program, it) == "");
    const TimedResult result = launch(gpu, *program, it.config, it.memory);
    REQUIRE_FALSE(result.fault);
    CHECK(result.cycles > 300);
    CHECK(std::is_sorted(result.trace.issues.begin(), result.trace.issues.end(),
                         [](const IssueRecord& a, const IssueRecord& b) { return a.cycle < b.cycle; }));
}

}  // namespace model_plain_sm_test
