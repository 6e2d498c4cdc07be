// Whether the running path spins: looked at instruction by instruction, now and then. Internal to core/simt.
#pragma once
#include "core/simt/memory/access.h"

namespace lockstep::simt {

// Watches the running path from its next instruction on.
void watch_path(Warp& warp);
void stop_watching(Warp& warp);  // until its interval has passed

// All paths that may run have come round and changed nothing; `all_proven`: with all registers as they were.
void note_round(Warp& warp, bool all_proven);

// The same as choose_path when the running path has been seen to spin, which changes nothing.
Fault* choose_again(Warp& warp);

}  // namespace lockstep::simt
