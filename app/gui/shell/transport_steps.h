// What of the run on show the transport counts: internal to transport.cpp and transport_steps.cpp.
#pragma once
#include "app/gui/session.h"

namespace lockstep::gui {

const KernelTrace* trace_of(const Snapshot& snapshot);
// Null: not known yet; that of the warp before stays for a moment.
const simt::WarpHistory* focused_history(const Snapshot& snapshot, const Focus& focus);
int64_t instructions_of(const Session& session, const Focus& focus, const Snapshot& snapshot);
// How many instructions the warp will have issued is not known: the trace keeps a stretch, and the history is too long.
bool open_ended(const Snapshot& snapshot, const Focus& focus);
bool shows_program(const Session& session);                                    // a whole one of the learner's
void scrub_program(Session& session, const Snapshot& snapshot, double share);  // to a launch or a call, by the grain
int64_t total_steps(const Snapshot& snapshot);  // of the training runs, that the longest has or will have

}  // namespace lockstep::gui
