// One step of a training run as what the Cluster workspace shows of it: the network's use, message by message as the ranks
// sent them, one of its collectives chunk by chunk, and who keeps what of a parameter.
#pragma once
#include <memory>

#include "core/scene/cluster/cluster.h"

namespace lockstep::scene {

// The machine that ranks run on, as the setup's network has it: with two nodes at least. Throws Failure.
std::shared_ptr<const comm::Network> network_of_ranks(const NetworkSetup& setup, int ranks);

// Of the record's messages, given to the links in the order in which the run gave them: traffic, collectives, `sent`.
void show_step_traffic(const parallel::ParallelStepRecord& record, std::shared_ptr<const comm::Network> network,
                       double origin_us, TrainingShown& shown);
// Both need what show_step_traffic() has filled. Without a collective the scene's says why; without a parameter it keeps its
// own.
void show_step_collective(const TrainingShown& shown, ClusterScene& scene);
void show_step_parameter(const TrainingShown& shown, ClusterScene& scene);

}  // namespace lockstep::scene
