// The plain SM and the fast one run random programs and have to agree in every cycle of every warp.
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
    check_programs(501, 1500);
}

TEST_CASE("and of random programs made by hand") {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        const Case c = make_case(seed);
        INFO("seed " << seed);
        const Launch it{c.config, c.memory, {{c.address, c.words * 4}}};
        CHECK(difference(some_gpu(seed), c.program, it) == "");
    }
}

}  // namespace model_plain_sm_test
