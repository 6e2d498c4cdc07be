// What the view "workers" says of its lanes: one headline, what the two rows differ in, what is equal, a batch's times.
#pragma once
#include <string>
#include <vector>

#include "app/gui/widgets/theme.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/cluster/worker_lanes.h"

namespace lockstep::gui {

using scene::WorkerBatch;
using scene::WorkerLanes;
using ShownLanes = std::vector<const WorkerLanes*>;  // of one row, or of two

ShownLanes shown_lanes(const scene::ClusterScene& scene);                   // the first row and the last
const WorkerBatch* stuck_batch(const WorkerLanes& lanes);                   // that waits for ever; null: none does
std::string name_among(const WorkerLanes& lanes, const ShownLanes& shown);  // by what the two differ in
std::string share_words(double share);
std::string updates_words(const WorkerLanes& lanes);  // "23 of 25", of them stale
std::string workers_headline(const ShownLanes& shown);
std::string workers_difference(const ShownLanes& shown);
std::string workers_caption(const ShownLanes& shown);
struct LossPoint {
    double us = 0, loss = 0;
};
// By time: of steps each step's; of a server the mean of as many pushes as there are workers, which is as many examples.
std::vector<LossPoint> loss_curve(const WorkerLanes& lanes);
std::string batch_words(const WorkerLanes& lanes, const WorkerBatch& batch);
// Green with fresh weights, from yellow to vermillion with stale ones.
Color staleness_color(int64_t staleness, int64_t most);

}  // namespace lockstep::gui
