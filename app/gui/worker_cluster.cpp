// What the Cluster workspace asks for: schedules, collectives, layouts and memory, all simulated in a few milliseconds.
#include "app/gui/worker.h"
#include "lessons/player/cluster.h"

namespace lockstep::gui {

void Session::Worker::show_cluster(const std::shared_ptr<const lessons::ClusterSetup>& wanted) {
    busy("running the cluster's scene");
    draft.cluster =
        std::make_shared<const lessons::ClusterScene>(lessons::run_cluster(wanted ? *wanted : lessons::ClusterSetup()));
    busy("");
}

}  // namespace lockstep::gui
