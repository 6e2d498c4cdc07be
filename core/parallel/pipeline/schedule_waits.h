// Why lists of a schedule never end: who stands at which action, what that needs, and where the one that has to make it
// stands. Of what computes alone; messages are where their results are needed.
#pragma once
#include <string>
#include <vector>

#include "core/parallel/pipeline/schedule.h"

namespace lockstep::parallel {

struct ScheduleWait {
    int rank = 0;
    size_t place = 0;          // in the rank's list of what computes
    Action stands_at;          // the action that cannot begin
    Action needs;              // what it waits for,
    int from = 0;              // which rank makes that
    bool never = false;        // it stands in no list
    std::string text() const;  // "rank 0 stands at B1 and waits for rank 1's B1"
};
// The ranks that wait for each other in a circle, or the one that waits for what never comes; empty: all lists end.
std::vector<ScheduleWait> circle_of_waits(const Schedule& schedule);

}  // namespace lockstep::parallel
