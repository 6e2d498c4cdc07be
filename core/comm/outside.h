// For a rank of run_in_process() that waits for something beside messages, a command from outside for instance: while it does,
// the others' messages on shared links are settled without it. All ranks must have left, or ended, before one comes back;
// with the first that does all of them run again, so that none is taken for one that will never send.
#pragma once
#include "core/comm/communicator.h"

namespace lockstep::comm {

void leave_run(Communicator& rank);
void come_back_to_run(Communicator& rank);

}  // namespace lockstep::comm
