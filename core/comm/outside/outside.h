// For ranks of run_in_process() that wait for something beside messages, a command from outside for instance: while one
// does, the others' messages on shared links are settled without it. Rounds are counted from 1: before a round begins all
// ranks have left or are about to begin it, and each says so with come_back_to_run(), whether it had left or not. With the
// first that does all of them run again, so that none is taken for one that will never send.
#pragma once
#include <cstdint>

#include "core/comm/communicator.h"

namespace lockstep::comm {

void leave_run(Communicator& rank);
void come_back_to_run(Communicator& rank, uint64_t round);  // 0: this rank alone, to end

}  // namespace lockstep::comm
