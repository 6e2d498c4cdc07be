#include "core/parallel/plan_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::parallel {

std::span<const PlanOption> plan_options() {
    using P = ParallelPlan;
    constexpr double any = 1e300;
    static const PlanOption table[] = {
        {"dp", "dp", &P::dp, "ranks that each take a part of the batch", 1, any},
        {"tp", "tp", &P::tp, "ranks that each hold a part of every layer", 1, any},
        {"pp", "pp", &P::pp, "ranks that each hold some of the layers, a pipeline", 1, any},
        {"cp", "cp", &P::cp, "ranks that each hold a part of every sequence", 1, any},
        {"zero", "zero", &P::zero,
         "1: each rank keeps a part of the optimizer's state, 2: of the gradients too, 3: of the weights too", 0, 3},
        {"", "schedule", &P::schedule, ""},
        {"chunks", "chunks", &P::chunks, "stages that a pipeline rank holds (interleaved)", 1, 8},
        {"cut", "", &P::cut, "blocks of each stage, first to last: --cut 1,2,2,1; unless said, as even as they go"},
        {"microbatches", "microbatches", &P::microbatches, "that each rank's part of the batch goes through in", 1, 100'000},
        {"sequence-parallel", "sequence_parallel", &P::sequence_parallel,
         "norms of a tp group on a part of the sequence each"},
        {"context",
         "context",
         &P::context,
         "ring, balanced_ring or all_to_all: how attention crosses cp ranks",
         0,
         0,
         {"ring", "balanced_ring", "all_to_all"}},
        {"recompute",
         "recompute",
         &P::recompute,
         "none, selective or full: activations that are computed again",
         0,
         0,
         {"none", "selective", "full"}},
        {"offload", "offload", &P::offload, "the optimizer's state in the host's memory"},
        {"", "bucket_bytes", &P::bucket_bytes, "", 0, 1 << 30},
        {"all-reduce", "all_reduce", &P::all_reduce, "algorithm of the gradients' all-reduce"},
        {"compression",
         "compression",
         &P::compression,
         "of gradients: none, fp16, top_k or power_sgd",
         0,
         0,
         {"none", "fp16", "top_k", "power_sgd"}},
        {"keep", "keep", &P::keep, "share of the elements that top_k sends", 1e-6, 1},
        {"rank", "rank", &P::rank, "of power_sgd", 1, 1024},
        {"sync-batch-norm", "sync_batch_norm", &P::sync_batch_norm, "statistics of batch norm over all workers"},
    };
    return table;
}

size_t place_of_name(std::string_view called, std::span<const std::string_view> names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
    const std::string near = nearest_name(name, {names.begin(), names.end()});
    throw Failure(fmt::format("{} is one of {}, not '{}'{}", called, fmt::join(names, ", "), name,
                              near.empty() ? "" : fmt::format(": did you mean '{}'?", near)));
}

void set_named(ParallelPlan& plan, const PlanOption& row, std::string_view called, const std::string& name) {
    const size_t place = place_of_name(called, row.names, name);
    std::visit(
        [&](auto field) {
            auto& value = plan.*field;
            using Value = std::remove_reference_t<decltype(value)>;
            if constexpr (std::is_enum_v<Value>) value = Value(place);
        },
        row.field);
}

}  // namespace lockstep::parallel
