// How a step is split, as rows of scenes say it: dp=2 tp=2 zero=1 ...; what is wrong with one setting alone is told here,
// what does not fit together by core/parallel.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {

parallel::ParallelPlan parallel_plan_of(ParallelText& row, int64_t most_ranks) {
    parallel::ParallelPlan plan;
    const auto count = [&](const char* key, int otherwise, int64_t most) {
        return static_cast<int>(row.whole(key, otherwise, 0, most));
    };
    const auto choice = [&](const char* key, std::initializer_list<const char*> names) {
        const std::string wanted = row.word(key, *names.begin());
        const auto found = std::find(names.begin(), names.end(), wanted);
        if (found == names.end())
            throw Failure(fmt::format("{} is one of {}, not '{}'", key, fmt::join(names, ", "), wanted));
        return static_cast<uint8_t>(found - names.begin());
    };
    plan.dp = std::max(1, count("dp", 1, most_ranks));
    plan.tp = std::max(1, count("tp", 1, most_ranks));
    plan.pp = std::max(1, count("pp", 1, most_ranks));
    plan.cp = std::max(1, count("cp", 1, most_ranks));
    if (double(plan.dp) * plan.tp * plan.pp * plan.cp > double(most_ranks))
        throw Failure(fmt::format("at most {} ranks here", most_ranks));
    plan.zero = count("zero", 0, 3);
    plan.sequence_parallel = count("sequence_parallel", 0, 1) == 1;
    plan.schedule = row.word("schedule", plan.schedule);
    plan.chunks = std::max(1, count("chunks", 1, 8));
    plan.microbatches = std::max(1, count("microbatches", 1, 100'000));
    plan.offload = count("offload", 0, 1) == 1;
    plan.bucket_bytes = row.whole("bucket_bytes", plan.bucket_bytes, 0, 1 << 30);
    plan.all_reduce = row.word("all_reduce", plan.all_reduce);
    plan.keep = row.real("keep", plan.keep, 1e-6, 1);
    plan.rank = std::max(1, count("rank", plan.rank, 1024));
    plan.sync_batch_norm = count("sync_batch_norm", 0, 1) == 1;
    plan.recompute = parallel::Recompute{choice("recompute", {"none", "selective", "full"})};
    plan.context = parallel::Context{choice("context", {"ring", "balanced_ring", "all_to_all"})};
    plan.compression = parallel::Compression{choice("compression", {"none", "fp16", "top_k", "power_sgd"})};
    return plan;
}

}  // namespace lockstep::scene
