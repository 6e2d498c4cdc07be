// The process's own memory.
#pragma once

namespace lockstep::system {

// What was freed and is kept for the next allocation goes back to the system, where its library can do that. It takes
// milliseconds: for when nothing else is to do.
void give_back_memory();

}  // namespace lockstep::system
