// What is followed through a step of many GPUs, leg by leg: a micro-batch through the stages of its replica, forward and
// back; a message that has no number; a chunk round the replicas of a stage. And which times of the step are nobody's wait.
#pragma once
#include "app/gui/views/machine/many/cluster_places.h"
#include "app/gui/views/machine/many/cluster_step.h"

namespace lockstep::gui {

struct WayLeg {
    enum class Is : uint8_t { works, travels, waits } is = Is::works;
    StepWork work = StepWork::forward;
    bool gradient = false;  // of what travels, or waits at a door
    bool sums = false;      // a chunk
    int from = 0, to = 0;   // stages; of a chunk replicas. The same where it works
    double begin = 0, end = 0;
};
struct StepWay {
    std::vector<WayLeg> legs;  // in order, none over another; between them nothing is left out
    std::string name;          // "micro-batch 5 of replica 0"
    int stage = 0;             // of a chunk's ring
    double begin = 0, end = 0;
    bool empty() const { return legs.empty(); }
    int leg_at(double time) const;      // index; before it the first, behind it the last
    double waited(double until) const;  // of its time, how much it waits
};
StepWay way_through(const ClusterStep& step, const FollowedPacket& followed);  // empty: nothing is, or it is not there

// What is worth following of the looked-at GPU's stage at a moment: what travels to or from it, what it works on, what it
// works on next, the chunk that it sends round.
FollowedPacket what_to_follow(const ClusterStep& step, int rank, double time);

std::string leg_text(const ClusterStep& step, const WayLeg& leg, double time);  // "backward on stage 3, 40 %"
std::string followed_sentence(const ClusterStep& step, const StepWay& way, double time);

// The end of a wait at that time, of what is followed, else of the GPUs of the looked-at one's stage; the time itself where
// nobody waits.
double wait_over(const ClusterStep& step, const StepWay& way, int rank, double time);

// Where what is followed stands in the cluster's picture.
Point followed_at(const ClusterPlaces& places, const FollowedPacket& followed, const StepWay& way, double time);

}  // namespace lockstep::gui
