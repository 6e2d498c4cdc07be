// What of the run on show the transport counts: internal to transport.cpp and transport_steps.cpp.
#pragma once
#include <optional>
#include <string>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

const KernelTrace* trace_of(const Snapshot& snapshot);
// Null: not known yet; that of the warp before stays for a moment.
const simt::WarpHistory* focused_history(const Snapshot& snapshot, const Focus& focus);
int64_t instructions_of(const Session& session, const Focus& focus, const Snapshot& snapshot);
// How many instructions the warp will have issued is not known: the trace keeps a stretch, and the history is too long.
bool open_ended(const Snapshot& snapshot, const Focus& focus);
bool shows_program(const Session& session);                                    // a whole one of the learner's
void scrub_program(Session& session, const Snapshot& snapshot, double share);  // to a launch or a call, by the grain
// How many steps a second it plays where nobody has chosen a speed; whether a speed can be chosen, and the control for it.
double own_speed(const Session& session);
bool has_speed(const Session& session, const Snapshot& snapshot);
float choose_speed(Ui& ui, Session& session, float x, float y, float room);
// The cycle that somebody typed ("1,200", "50 %"); none: `wrong` says why it is none of the `shown` cycles.
std::optional<int64_t> cycle_typed(const std::string& text, int64_t cycles, int64_t shown, std::string& wrong);
int64_t total_steps(const Snapshot& snapshot);  // of the training runs, that the longest has or will have

}  // namespace lockstep::gui
