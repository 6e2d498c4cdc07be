// The tour: twenty seconds from the cluster to one lane, a sentence a stop, then the controls are handed over. What is said
// comes from what is on show.
#pragma once
#include <span>

#include "app/gui/views/machine/machine_view.h"

namespace lockstep::gui {

struct TourStop {
    Stop stop;
    double seconds;                                      // on the way there included
    std::string_view clock;                              // "1 ms": that passes in a second
    double speed;                                        // of the kernel's clock, cycles a second; 0: it is not the kernel's
    double microseconds;                                 // of the step's clock, that pass in a second
    std::string (*sentence)(const MachineFrame& frame);  // null: the picture's own
};
std::span<const TourStop> tour_stops();
double tour_seconds();  // of all of it

struct TourMoment {
    size_t at = 0;     // index of tour_stops()
    double zoom = 0;   // of the machine
    double share = 0;  // of the tour that lies behind
};
// At `seconds` from its beginning: it rests at a stop, and in the last 0.6 s goes on to the next one.
TourMoment tour_at(double seconds);

void begin_tour(Session& session);
// Lets time pass, for the tour and for the clock of what it shows; false: the tour is over.
bool play_tour(Session& session, Focus& focus, const Snapshot& snapshot, double seconds);
bool go_on_tour(Session& session, Focus& focus, const Snapshot& snapshot, double seconds);
// At a lane: at one whose operands are numbers, where the focused lane has zeros among them.
void look_at_a_number(const MachineFrame& frame);
// Title and progress over the picture, and the sentence with its clock below it.
void draw_tour_head(const MachineFrame& frame, const Rect& bar);
void draw_tour_foot(const MachineFrame& frame, const Rect& area);
inline constexpr float tour_foot_height = 104;

}  // namespace lockstep::gui
