// The warp schedulers' policies, seen in who issues when several warps could.
#include <set>

#include "tests/catch.h"
#include "tests/model_support.h"

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

// Warps of independent additions: every one can always issue, so each cycle is the policy's choice alone. The blocks'
// warps that issued on scheduler 0 of SM 0, in order.
std::vector<uint32_t> issuers(std::optional<SchedulerPolicy> policy, uint32_t warps, const GpuSpec& on) {
    Builder b;
    b.program.registers_per_thread = 16;
    const int32_t from = b.r32();
    std::vector<int32_t> to;
    for (int i = 0; i < 12; ++i) to.push_back(b.r32());
    for (const int32_t d : to) b.lanes(simt::test::add32, Type::u32, d, from, b.word(1));
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    TimedOptions options;
    options.scheduler = policy;
    const simt::LaunchConfig config = simt::test::config_of({1}, {warps * 32 * on.sub_cores}, {});
    const TimedResult result = launch(on, program, config, memory, options);
    std::vector<uint32_t> order;
    for (const IssueRecord& issue : result.trace.issues)
        if (result.trace.warps[issue.warp].scheduler == 0) order.push_back(result.trace.warps[issue.warp].warp_in_block);
    return order;
}

GpuSpec two_schedulers() {
    GpuSpec on = gpu("teaching:1");
    on.scheduler.value = SchedulerPolicy::greedy_then_oldest;
    return on;
}

}  // namespace

TEST_CASE("loose round robin gives every warp its turn, the greedy policies stay with one") {
    const GpuSpec on = two_schedulers();
    const uint32_t warps = 4;
    const std::vector<uint32_t> turns = issuers(SchedulerPolicy::loose_round_robin, warps, on);
    REQUIRE(turns.size() == warps * 13);
    for (size_t i = 0; i + warps <= 40; ++i)
        CHECK(
            std::set<uint32_t>(turns.begin() + static_cast<long>(i), turns.begin() + static_cast<long>(i + warps)).size() ==
            warps);
    for (const auto policy : {SchedulerPolicy::greedy_then_oldest, SchedulerPolicy::greedy_then_youngest}) {
        const std::vector<uint32_t> greedy = issuers(policy, warps, on);
        REQUIRE(greedy.size() == warps * 13);
        size_t changes = 0;
        for (size_t i = 1; i < greedy.size(); ++i) changes += greedy[i] != greedy[i - 1];
        CHECK(changes < 2 * warps);
    }
}

TEST_CASE("a greedy scheduler whose warp has stalled goes on with the oldest, or with the youngest") {
    const GpuSpec on = two_schedulers();
    const std::vector<uint32_t> oldest = issuers(SchedulerPolicy::greedy_then_oldest, 4, on);
    const std::vector<uint32_t> youngest = issuers(SchedulerPolicy::greedy_then_youngest, 4, on);
    // Warps 0, 2, 4 and 6 are scheduler 0's, 0 the oldest of them.
    CHECK(oldest.front() == 0);
    CHECK(oldest.back() == 6);
    CHECK(youngest.back() == 2);
    CHECK(issuers(std::nullopt, 4, on) == oldest);
}

TEST_CASE("policies have names, and every GPU's row says which it has") {
    for (const SchedulerPolicy policy :
         {SchedulerPolicy::greedy_then_oldest, SchedulerPolicy::loose_round_robin, SchedulerPolicy::greedy_then_youngest}) {
        CHECK(scheduler_named(name_of(policy)) == policy);
        CHECK_FALSE(title_of(policy).empty());
    }
    CHECK_FALSE(scheduler_named("fifo"));
    for (const char* name : {"a100", "rtx3090", "a6000", "rtx4090", "h100", "h200"})
        CHECK(gpu(name).scheduler.value == SchedulerPolicy::greedy_then_youngest);
}
