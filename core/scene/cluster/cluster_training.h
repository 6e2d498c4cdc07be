// A training run on ranks of this process for the Cluster workspace: ParallelTrainer beside the same program on one rank,
// and what its last step left: the schedule that ran, memory as it was allocated, bytes as they were sent. The ranks are
// kept: asking for one step more trains one step more.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/scene/cluster/cluster.h"

namespace lockstep::scene {

struct ClusterModel {              // small enough for a step in a fraction of a second
    std::string_view name, model;  // "tiny llama"; whose data it learns from: a row of nn::models()
    double learning_rate = 0;
    int64_t batch = 16;
    parallel::ModelShape (*shape)() = nullptr;
};
std::span<const ClusterModel> cluster_models();

inline constexpr int most_cluster_ranks = 16;
inline constexpr int64_t most_cluster_steps = 400;
ClusterTraining within_limits(ClusterTraining training);
// "dp=2 pp=2 tp=1 zero=1 schedule=1f1b microbatches=4", with model=, batch=, seed= and steps=. Throws Failure.
ClusterTraining training_named(const std::string& text);

class ClusterTrainer {
  public:
    ClusterTrainer();
    ~ClusterTrainer();
    std::function<bool()> stop;                                           // asked between steps; null: never
    std::function<void(const std::string& what, double share)> progress;  // null: nobody listens
    // Trains what the scene's setup asks for and puts it in place of its schedules and memory. What cannot run says why.
    void show(ClusterScene& scene);

  private:
    struct Run;
    std::unique_ptr<Run> run_;
};

}  // namespace lockstep::scene
