// Clusters through the drivers: every block reads its neighbour's shared memory behind cluster barriers, functional in every
// order and timed on few and many SMs; and launches that no GPU could hold are refused.
#include <cstring>

#include "core/model/launch/launch.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"

namespace device_cluster_test {

using namespace lockstep;

namespace {

// out[i] = in[i of the next block of the cluster] + rank * 1000
const char* const ring = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 in, .param .u64 out)
.explicitcluster
.reqnctapercluster 4, 1, 1
{
    .reg .b32 %r<20>; .reg .b64 %rd<10>; .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r4, [%rd1];
    mov.u32 %r5, s;
    mad.lo.u32 %r6, %r1, 4, %r5;
    st.shared.u32 [%r6], %r4;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.u32 %r7, %cluster_ctarank;
    add.u32 %r8, %r7, 1;
    and.b32 %r8, %r8, 3;
    mapa.shared::cluster.u32 %r9, %r6, %r8;
    ld.shared::cluster.u32 %r10, [%r9];
    mad.lo.u32 %r11, %r7, 1000, %r10;
    st.global.u32 [%rd2], %r11;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
})";

struct Run {
    std::shared_ptr<const ptx::Program> program = ptx::decode(ptx::parse(ring, "ring.ptx").value()).value();
    simt::Memory memory;
    simt::LaunchConfig config;
    uint64_t out = 0;
    explicit Run(uint32_t blocks) {
        std::vector<uint32_t> ramp(64 * blocks);
        for (uint32_t i = 0; i < ramp.size(); ++i) ramp[i] = i;
        const uint64_t in = memory.allocate(4 * ramp.size(), "in");
        std::memcpy(memory.write(in, 4 * ramp.size()), ramp.data(), 4 * ramp.size());
        out = memory.allocate(4 * ramp.size(), "out");
        config = {{blocks}, {64}, 0, std::vector<std::byte>(16)};
        std::memcpy(config.parameters.data(), &in, 8);
        std::memcpy(config.parameters.data() + 8, &out, 8);
    }
    void check(const simt::LaunchResult& result) const {
        if (result.fault) FAIL(simt::render(*result.fault));
        CHECK((result.reports.empty() && result.warnings.empty()));
        const uint32_t count = 64 * config.grid.x;
        std::vector<uint32_t> got(count);
        std::memcpy(got.data(), memory.read(out, 4 * count), 4 * count);
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t block = i / 64, rank = block % 4, next = block - rank + (rank + 1) % 4;
            REQUIRE(got[i] == next * 64 + i % 64 + 1000 * rank);
        }
    }
};

}  // namespace

TEST_CASE("blocks of a cluster read one another's shared memory, in every order and timed") {
    for (const auto order :
         {simt::WarpOrder::round_robin, simt::WarpOrder::greedy, simt::WarpOrder::reverse, simt::WarpOrder::random}) {
        Run run(24);
        simt::LaunchOptions options;
        options.order = order;
        options.racecheck = true;
        run.check(simt::launch(*run.program, run.config, run.memory, options));
    }
    int64_t cycles[2] = {};
    for (const char* gpu : {"teaching:3", "h100"}) {  // three SMs hold a few clusters at a time
        Run run(96);
        const auto spec = model::gpu_named(gpu).value();
        model::TimedOptions options;
        options.racecheck = true;
        const auto result = model::launch(spec, *run.program, run.config, run.memory, options);
        run.check(result);
        Run again(96);
        const auto second = model::launch(spec, *again.program, again.config, again.memory, options);
        CHECK(second.cycles == result.cycles);
        cycles[spec.sms > 3] = result.cycles;
    }
    CHECK(cycles[1] > 0);
    CHECK(cycles[0] > 0);
}

TEST_CASE("a grid that clusters do not divide is refused, a cluster that does not fit faults") {
    Run run(6);
    const auto refused = simt::check_launch(*run.program, run.config, {});
    REQUIRE(refused);
    CHECK_THAT(refused->message, Catch::Contains("no multiple of the cluster, 4 x 1 x 1"));
    Run large(8);
    auto program = std::make_shared<ptx::Program>(*large.program);
    program->static_shared = 40 * 1024;  // one block an SM
    const auto result = model::launch(model::gpu_named("teaching:3").value(), *program, large.config, large.memory);
    REQUIRE(result.fault);
    CHECK_THAT(result.fault->message,
               Catch::Contains("a cluster of 4 blocks does not fit on 3 SMs with room for 1 block each"));
}

}  // namespace device_cluster_test
