// The overview against its definition: cycle by cycle, the state that took most of a column.
#include "core/trace/overview.h"

#include <map>

#include "tests/catch.h"

namespace trace_overview_test {

using namespace lockstep;

namespace {

uint64_t next(uint64_t& seed) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return seed >> 33;
}

}  // namespace

TEST_CASE("on every level a column shows the state that took most of its cycles, and the share of cycles that issued") {
    for (const int64_t cycles : {1, 15, 16, 17, 1000, 200'000}) {
        constexpr uint32_t slots = 3, schedulers = 2, reasons = static_cast<uint32_t>(StallReason::count);
        std::vector<std::vector<uint8_t>> truth(slots, std::vector<uint8_t>(static_cast<size_t>(cycles), Overview::empty));
        OverviewBuilder builder(slots, schedulers);
        uint64_t seed = static_cast<uint64_t>(cycles);
        for (uint32_t slot = 0; slot < slots; ++slot)
            for (int64_t at = 0; at < cycles;) {
                const int64_t end = std::min<int64_t>(cycles, at + 1 + static_cast<int64_t>(next(seed) % 60));
                const auto state = static_cast<uint8_t>(next(seed) % (reasons + 2));
                if (state == 0) {
                    builder.issued(slot, slot % schedulers, at);
                    truth[slot][static_cast<size_t>(at)] = 0;
                    ++at;
                    continue;
                }
                if (state < reasons) {
                    builder.state(slot, at, end, static_cast<StallReason>(state));
                    for (int64_t i = at; i < end; ++i) truth[slot][static_cast<size_t>(i)] = state;
                }
                at = end;
            }
        const Overview overview = builder.finish(cycles);
        if (overview.levels.empty()) continue;
        CHECK(overview.slots == slots);
        CHECK(overview.cycles.size() == overview.levels.front().columns);
        std::vector<Overview::States> sums(overview.cycles.size());
        for (const auto& slot : truth)
            for (size_t i = 0; i < slot.size(); ++i)
                if (slot[i] != Overview::empty) ++sums[i / size_t(overview.levels.front().cycles_a_column)][slot[i]];
        CHECK(overview.cycles == sums);
        CHECK(overview.levels.front().columns <= OverviewBuilder::most_columns);
        CHECK(overview.levels.back().columns == 1);
        for (const Overview::Level& level : overview.levels) {
            REQUIRE(level.states.size() == size_t{slots} * level.columns);
            for (uint32_t column = 0; column < level.columns; ++column) {
                const int64_t begin = column * level.cycles_a_column;
                const int64_t end = std::min(cycles, begin + level.cycles_a_column);
                std::vector<int64_t> issues(schedulers);
                for (uint32_t slot = 0; slot < slots; ++slot) {
                    std::map<uint8_t, int64_t> count;
                    for (int64_t i = begin; i < end; ++i) ++count[truth[slot][static_cast<size_t>(i)]];
                    issues[slot % schedulers] += count[0];
                    int64_t most = 0;
                    for (const auto& [state, n] : count) most = std::max(most, n);
                    CHECK(count[level.states[slot * level.columns + column]] == most);
                }
                for (uint32_t s = 0; s < schedulers; ++s) {
                    const float share = level.issued[s * level.columns + column];
                    CHECK(share == static_cast<float>(issues[s]) / static_cast<float>(end - begin));
                }
            }
        }
        const Overview::Level* level = overview.level_for(0, cycles, 100);
        REQUIRE(level != nullptr);
        CHECK(cycles <= 100 * level->cycles_a_column);
        if (level != &overview.levels.front()) CHECK(cycles > 100 * level[-1].cycles_a_column);
    }
}

TEST_CASE("an overview of a very long run keeps within its columns") {
    OverviewBuilder builder(2, 1);
    builder.state(0, 0, 10'000'000'000, StallReason::barrier);
    builder.state(1, 5'000'000'000, 5'000'000'001, StallReason::wait);
    const Overview overview = builder.finish(10'000'000'000);
    REQUIRE_FALSE(overview.levels.empty());
    const Overview::Level& level = overview.levels.front();
    CHECK(level.columns <= OverviewBuilder::most_columns);
    CHECK(level.columns > OverviewBuilder::most_columns / 2);
    for (uint32_t column = 0; column < level.columns; ++column) {
        CHECK(level.states[column] == static_cast<uint8_t>(StallReason::barrier));
        CHECK(level.states[level.columns + column] == Overview::empty);
    }
    for (const Overview::Level& wider : overview.levels)  // more cycles than 32 bits count
        for (uint32_t column = 0; column < wider.columns; ++column) {
            CHECK(wider.states[column] == static_cast<uint8_t>(StallReason::barrier));
            CHECK(wider.states[wider.columns + column] == Overview::empty);
        }
    OverviewBuilder sleepers(64, 1);
    for (uint32_t slot = 0; slot < 64; ++slot) sleepers.state(slot, 0, 400'000'000'000, StallReason::sleeping);
    uint64_t asleep = 0;
    for (const Overview::States& column : sleepers.finish(400'000'000'000).cycles)
        asleep += column[static_cast<size_t>(StallReason::sleeping)];
    CHECK(asleep == 64 * 400'000'000'000u);
    CHECK(OverviewBuilder().finish(100).levels.empty());
}

}  // namespace trace_overview_test
