// The machine's clock while it plays, and the speeds that one can choose.
#pragma once
#include <span>
#include <string_view>

#include "app/gui/session.h"

namespace lockstep::gui {

// Lets `seconds` pass. False: it has come to its end and stops.
bool play_machine(Session& session, Focus& focus, const Snapshot& snapshot, double seconds);
// Where the workspace has a clock of its own that runs smoothly: the machine's, on a kernel that has run.
bool plays_machine(const Session& session, const Snapshot& snapshot);

// The clock goes round from here on: over the life of the followed request, else over five seconds of what it runs through.
// Where it does already, it goes on.
void loop_here(Session& session, const Snapshot& snapshot);
// Follows the next request of the traced SM from the cycle on that goes far.
void follow_request(Session& session, const Snapshot& snapshot, int64_t cycle);

struct SpeedChoice {
    std::string_view name;  // "10", of the chips
    double cycles_a_second;
};
std::span<const SpeedChoice> speed_choices();

}  // namespace lockstep::gui
