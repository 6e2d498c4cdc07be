// The warp schedulers' policies, seen in who issues when several warps could.
#include <algorithm>
#include <set>

#include "core/base/rng.h"
#include "core/model/issue/sleepers.h"
#include "tests/catch.h"
#include "tests/model/support.h"

namespace model_scheduler_test {

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

TEST_CASE("every sleeping warp wakes in its cycle, far or near, and nobody who was woken before") {
    Rng rng(3);
    Sleepers sleepers;
    std::vector<int64_t> wake(32, 0);
    uint32_t asleep = 0;
    int64_t now = 0;
    const auto add = [&](uint32_t i) {
        const uint64_t kind = rng.below(8);
        const int64_t after = kind == 0 ? 60 + rng.below(5) : kind == 1 ? rng.below(1000) : kind == 2 ? 0 : rng.below(12);
        wake[i] = kind == 3 ? never : now + 1 + after;
        sleepers.add(i, now, wake[i]);
        asleep |= 1u << i;
    };
    sleepers.add_far(0, wake[0] = 5);
    asleep = 1;
    for (int turn = 0; turn < 50'000; ++turn) {
        int64_t first = never;
        for (uint32_t i = 0; i < 32; ++i)
            if ((asleep >> i & 1) != 0) first = std::min(first, wake[i]);
        const int64_t next = sleepers.next(now);
        REQUIRE(next <= first);  // earlier only where somebody far was woken by others
        if (next == never) {
            for (uint32_t i = 0; i < 32; ++i)
                if (rng.below(2) == 0) add(i);
            continue;
        }
        now = next;
        uint32_t expected = 0;
        for (uint32_t i = 0; i < 32; ++i) expected |= (asleep >> i & 1) != 0 && wake[i] == now ? 1u << i : 0;
        const uint32_t due = sleepers.take_due(now, wake);
        REQUIRE(due == expected);
        asleep &= ~due;
        for (uint32_t i = 0; i < 32; ++i) {
            if ((asleep >> i & 1) == 0 && rng.below(3) != 0) add(i);
            if ((asleep >> i & 1) != 0 && wake[i] != never && rng.below(40) == 0) {
                sleepers.remove(i, wake[i]);
                asleep &= ~(1u << i);
            }
        }
    }
}

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

}  // namespace model_scheduler_test
