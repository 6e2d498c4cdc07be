// The machine's clock while it plays, and the speeds that one can choose.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/gui/shell/shell.h"

namespace lockstep::gui {

struct SpeedChoice {
    std::string name;  // "10", of the chips
    double a_second;   // cycles
};

// Lets `seconds` pass. False: it has come to its end and stops.
bool play_machine(Session& session, Focus& focus, const Snapshot& snapshot, double seconds);
// Where the workspace has a clock of its own that runs smoothly: the machine's, on a kernel that has run.
bool plays_machine(const Session& session, const Snapshot& snapshot);

// The clock goes round from here on: over the life of the followed request, else over five seconds of what it runs through.
// Where it does already, it goes on.
void loop_here(Session& session, const Snapshot& snapshot);
// At the stops of a cluster and a node the clock is the step's (session.cluster.time): smooth, from its end to its begin.
bool machine_at_cluster(const Session& session);
// False: what is followed is done, and it stops there.
bool play_cluster_step(Session& session, const Snapshot& snapshot, double seconds);
void follow_in_step(Session& session, const Snapshot& snapshot);  // what is worth it of the GPU that is looked at
void move_cluster_step(Session& session, const Snapshot& snapshot, int way, bool far);  // to where the next action begins
void scrub_cluster_step(Session& session, const Snapshot& snapshot, double share);
Position position_in_step(const Session& session, const Snapshot& snapshot);
double cluster_speed(const Session& session, const ClusterStep& step);  // of the step's units a second
std::vector<SpeedChoice> cluster_speeds(const ClusterStep& step);       // of them too

// Follows the next request of the traced SM from the cycle on that goes far.
void follow_request(Session& session, const Snapshot& snapshot, int64_t cycle);

std::span<const SpeedChoice> speed_choices();

}  // namespace lockstep::gui
