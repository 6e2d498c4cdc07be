// The table of a plan's options.
#include "core/parallel/plan_options.h"

#include <set>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedule.h"
#include "tests/catch.h"

namespace parallel_plan_options_test {

using namespace lockstep;
using namespace lockstep::parallel;
using Catch::Matchers::Contains;

TEST_CASE("Every option of a plan has a name and a place of its own; names of values are taken in their order") {
    std::set<std::string_view> names;
    for (const PlanOption& row : plan_options()) {
        INFO(row.name << " " << row.in_scene);
        CHECK(names.insert(row.name.empty() ? row.in_scene : row.name).second);
        for (const PlanOption& other : plan_options())
            if (&other != &row) CHECK(row.field != other.field);
        std::set<std::string_view> values;
        for (const std::string_view name : row.names) {
            ParallelPlan plan;
            set_named(plan, row, "it", std::string(name));
            CHECK((plan == ParallelPlan()) == (name == row.names.front()));
            CHECK(values.insert(name).second);
        }
    }
    CHECK(names.size() == 19);
    ParallelPlan plan;
    for (const PlanOption& row : plan_options())
        if (row.name == "recompute")
            CHECK_THROWS_WITH(set_named(plan, row, "--recompute", "ful"),
                              Contains("--recompute is one of none, selective, full, not 'ful': did you mean 'full'?"));
}

TEST_CASE("A schedule's row says whether its backward comes in two parts") {
    for (const ScheduleRow& row : schedules()) {
        INFO(row.name);
        const int chunks = row.chunks == 0 ? 2 : row.chunks;
        const Schedule schedule = make_schedule(
            std::string(row.name), {.ranks = 4, .microbatches = 8, .chunks = chunks, .batches = row.versions ? 3 : 0});
        bool parts = false;
        for (const auto& actions : schedule.actions)
            for (const Action& action : actions) parts = parts || action.kind == ActionKind::backward_input;
        CHECK(row.two_parts == parts);
    }
}

}  // namespace parallel_plan_options_test
