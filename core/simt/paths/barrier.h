// The block's 16 barriers: bar.sync, bar.arrive, bar.red and their `barrier` twins. Internal to core/simt.
//
// On a warp with a stack a barrier counts warps, 32 threads each. With independent threads it counts threads: the paths of a
// warp come one after the other, and each waits. A warp all of whose live threads have come counts 32.
//
// Exited warps count as arrived, and so do lanes whose next instruction is the final `ret`. A warp of which only a part
// arrives while the others have more before them than to end is a synccheck fault, except at `barrier.sync` without
// `.aligned` with independent threads. With the check off it counts as a whole on a stack; with independent threads it waits
// for its other lanes.
#pragma once
#include "core/simt/memory/access.h"

namespace lockstep::simt {

// The warp's lanes in `mask`, of its running path `active`, reach a barrier. Sets `released` when somebody may go on now.
// must_wait (paths.h): the path has to wait while others of the warp run; Warp::waits.back() says for what.
Fault* arrive(Warp& warp, uint32_t pc, uint32_t active, uint32_t mask, bool& released);

// Opens barrier `number` when all that it waits for have come. `running`: the warp that runs just now, or null.
bool release_if_full(Block& block, uint32_t number, Warp* running, uint32_t threads = 0);

// The same for all barriers, after threads have left.
bool release_all_full(Block& block, Warp* running);

}  // namespace lockstep::simt
