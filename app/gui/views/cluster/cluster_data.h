// What the Cluster workspace's views and the transport share: what is asked for, what is picked, and the clock.
#pragma once
#include <string>
#include <vector>

#include "app/gui/shell/shell.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {

bool shows_cluster(const Session& session);                 // the workspace, or a lesson's scene with one of its views
scene::ClusterSetup cluster_setup(const Session& session);  // as asked by hand, else as the scene on show was
void ask_cluster(Session& session, const scene::ClusterSetup& setup);
void adopt_cluster(Session& session, const Snapshot& snapshot);               // a new scene has arrived
std::string cluster_title(const Session& session, const Snapshot& snapshot);  // "4 ranks x 8 micro-batches"

int picked_rank(const Focus& focus, int ranks);  // that is looked at: Focus::rank where there is such a rank
// The schedule's row that is looked at: Focus::rank where there is such a rank; of a training run, its pipeline's row.
int picked_rank(const Focus& focus, const scene::ClusterScene& scene, int rows);
int rank_of_row(const scene::ClusterScene& scene, int row);  // the way back
bool trained(const scene::ClusterScene& scene);              // ranks have trained, and what is shown was executed
// Of the memory curves under a schedule, in micro-batches: what was set; of a training run, its schedule's own bound.
int activation_limit(const scene::ClusterScene& scene);
std::string training_words(const scene::TrainingShown& shown);    // "step 3: loss 4.51, as the serial run's"
std::string step_share_words(const scene::TrainingShown& shown);  // "a rank computes 62 % of the step's 1.8 ms and ..."
struct PurposeLook {
    Color fill;
    Hatch twin;
};
PurposeLook look_of_purpose(std::string_view purpose);      // of messages: "gradients", "parameters", "activations", ...
std::string sent_words(const scene::TrainingShown& shown);  // "dp gradients 1.2 MB, pp activations 33 kB"
int picked_microbatch(const Session& session, const scene::ClusterScene& scene);
// The schedules' clock: never behind the end of the longest.
double schedule_time(const Session& session, const Focus& focus, const scene::ClusterScene& scene);
double schedule_end(const scene::ClusterScene& scene);  // 0: nothing ran
std::string amount(double value);                       // "33", "28.5", "0.25"

// The transport in this workspace: an action is the next time at which any rank begins something.
void move_cluster(Session& session, Focus& focus, const Snapshot& snapshot, Grain grain, int way, bool far);
Position position_in_cluster(const Session& session, const Focus& focus, const Snapshot& snapshot);
void scrub_cluster(Session& session, const Snapshot& snapshot, double share);
bool play_cluster(Session& session, const Focus& focus, const Snapshot& snapshot, double seconds);  // false: at its end

}  // namespace lockstep::gui
