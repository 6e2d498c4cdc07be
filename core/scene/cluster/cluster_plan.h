// A planned step for the Cluster workspace and the machine: the planner's figures, the schedule played with them, with one
// GPU late and without, and what follows the pipeline: gradients summed over the replicas, the update, weights gathered.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/parallel/plan/planner.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::scene {

struct TensorSums {         // of a layer's parts, over the GPUs that share the layers
    int a_layer = 0;        // in a forward, and in a backward; 0: no GPUs share layers
    double share = 0;       // of the time of a pass
    double part_bytes = 0;  // that a GPU adds
};
struct PlannedStep {
    parallel::PlanResult plan;
    std::string title, refusal;              // "megatron-18b on 256 x A100 ..."; why it cannot be, and what would
    parallel::ScheduleRun on_time, delayed;  // milliseconds; delayed: of the replica whose GPU is late; empty: nobody is
    double late_from = 0;                    // of the late action: when it should have ended
    // Milliseconds, of every stage: summing its gradients, of that what its last backward does not hide; the optimiser;
    // gathering the weights that replicas have a part of each (ZeRO).
    double sum = 0, sum_exposed = 0, update = 0, gather = 0;
    std::vector<std::vector<parallel::BlockRange>> layers;  // by pipeline rank: its runs of blocks
    TensorSums sums;
    double end = 0;  // of the step, with who is late
    int microbatches() const { return on_time.schedule.microbatches; }
};
PlannedStep plan_cluster_step(const PlanSetup& setup);
PlanSetup within_limits(PlanSetup setup);

struct PublishedPlan {      // one that the machine offers
    std::string_view name;  // "405 B on 16,384"
    PlanSetup (*setup)() = nullptr;
};
std::span<const PublishedPlan> published_plans();
// What the machine shows before anybody has chosen: a plan of 256 GPUs.
ClusterSetup machine_cluster();

}  // namespace lockstep::scene
