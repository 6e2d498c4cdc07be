// How a step is split, as rows of scenes say it: dp=2 tp=2 zero=1 ...; what is wrong with one setting alone is told here,
// what does not fit together by core/parallel.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/parallel/plan_options.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {

static void take_setting(ParallelText& row, const parallel::PlanOption& option, double most, parallel::ParallelPlan& plan) {
    const std::string key(option.in_scene);
    if (!option.names.empty())
        return parallel::set_named(plan, option, key, row.word(key, std::string(option.names.front())));
    std::visit(
        [&](auto field) {
            auto& value = plan.*field;
            using Value = std::remove_reference_t<decltype(value)>;
            const auto whole = [&](int64_t otherwise) {
                return row.whole(key, otherwise, static_cast<int64_t>(option.least), static_cast<int64_t>(most));
            };
            if constexpr (std::is_same_v<Value, bool>)
                value = whole(0) == 1;
            else if constexpr (std::is_integral_v<Value>)
                value = static_cast<Value>(whole(value));
            else if constexpr (std::is_same_v<Value, double>)
                value = row.real(key, value, option.least, most);
            else if constexpr (std::is_same_v<Value, std::string>)
                value = row.word(key, value);
        },
        option.field);
}

parallel::ParallelPlan parallel_plan_of(ParallelText& row, int64_t most_ranks) {
    parallel::ParallelPlan plan;
    for (const parallel::PlanOption& option : parallel::plan_options())
        if (!option.in_scene.empty())
            take_setting(row, option, option.most_in_scene < 1e300 ? option.most_in_scene : double(most_ranks), plan);
    if (double(plan.dp) * plan.tp * plan.pp * plan.cp > double(most_ranks))
        throw Failure(fmt::format("at most {} ranks here", most_ranks));
    return plan;
}

}  // namespace lockstep::scene
