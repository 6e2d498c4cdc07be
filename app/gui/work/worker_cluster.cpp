// What the Cluster workspace asks for: schedules, collectives, layouts and memory, simulated in a few milliseconds; or a
// training run on ranks of this process, which any newer wish stops between two steps.
#include "app/gui/work/worker.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {

void Session::Worker::show_cluster(const std::shared_ptr<const scene::ClusterSetup>& wanted) {
    busy("running the cluster's scene");
    const std::stop_token cancelled = job_token();
    ranks.progress = [this](const std::string& what, double share) { busy(what, share); };
    ranks.stop = [this, cancelled] {
        const std::lock_guard lock(mutex);
        return cancelled.stop_requested() || waits<ask::RunCluster>();
    };
    draft.cluster =
        std::make_shared<const scene::ClusterScene>(scene::run_cluster(wanted ? *wanted : scene::ClusterSetup(), &ranks));
    busy("");
}

}  // namespace lockstep::gui
