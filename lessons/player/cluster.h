// What the Cluster workspace shows, as one plain struct: what was asked (ClusterSetup) and what ran (ClusterScene). The
// app's worker fills it with run_cluster(); so does whoever sets the workspace up, a lesson's scene for instance. Views only
// read it. A part that cannot run says why in `refusal` and leaves the others as they are.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/schedule.h"

namespace lockstep::lessons {

struct PipelineSetup {                                   // D9: one schedule, or two on one axis
    std::vector<std::string> kinds = {"1f1b", "zb-h1"};  // rows of parallel::schedules(), one or two
    int ranks = 4, microbatches = 8, chunks = 2;         // chunks: of the kinds that take them
    double forward = 1, input = 1, weight = 1, hop = 0;  // of one micro-batch through a rank's part of the model
    int slow_rank = -1;                                  // -1: none
    double slow_factor = 1.5;
    int limit = 0;  // micro-batches whose activations fit on a rank; 0: one a rank
    bool operator==(const PipelineSetup&) const = default;
    int activation_limit() const { return limit > 0 ? limit : ranks; }
};

struct ClusterSetup {
    PipelineSetup pipeline;
    bool operator==(const ClusterSetup&) const = default;
};
// The setup with every number brought into the range that the workspace draws: 1-64 ranks, 1-128 micro-batches, ...
ClusterSetup within_limits(ClusterSetup setup);

struct ScheduleShown {
    std::string kind, title, summary;  // "zb-h1", "ZB-H1", one sentence
    bool takes_chunks = false;
    parallel::ScheduleRun run;  // empty when refused
    std::string refusal;        // why it cannot be made, and what would
    bool executed = false;      // on real micro-batches; else its times are simulated
};

struct ClusterScene {  // immutable once made
    ClusterSetup setup;
    std::string source;  // "C06, step 3"; empty: set up by hand
    std::vector<ScheduleShown> schedules;
};
ClusterScene run_cluster(const ClusterSetup& setup);

}  // namespace lockstep::lessons
