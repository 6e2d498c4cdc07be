// The best ways to split a model over so many GPUs, under a memory limit: every tp (within a node), pp, cp, dp, micro-batch,
// schedule and recomputing that divides is planned; what does not fit falls out with its reason. Plans share the blocks that
// were measured for others.
#pragma once
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/parallel/plan/planner.h"

namespace lockstep::parallel {

struct SearchRequest {
    PlanRequest base;  // model, GPU, machine, sequence, batch; its plan says ZeRO, offload and how sequences are cut
    int gpus = 1;
    double memory_limit_gb = 0;  // 0: the GPU's own
    size_t most = 2000;          // plans that are looked at
    size_t keep = 10;
    std::function<void(size_t tried, size_t of)> progress;
    std::stop_token stop;  // ends early, with what was found
};
struct FellOut {
    ParallelPlan plan;
    int64_t microbatch = 1;
    std::string reason;  // "needs 141.4 GB, and 80 are allowed"
};
struct SearchResult {
    std::vector<PlanResult> best;  // by tokens a second, the fastest first
    std::vector<FellOut> fell_out;
    size_t tried = 0, possible = 0;
};
SearchResult search_plans(Planner& planner, const SearchRequest& request);

std::string text_of(const ParallelPlan& plan, int64_t microbatch);  // "tp 8, pp 16, dp 64, micro-batches of 1, 1f1b"

}  // namespace lockstep::parallel
