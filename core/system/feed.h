// Programs with more to them than those of system.h: one that is fed piece by piece, a film's pictures to its encoder, and
// one in the foreground whose time is limited. Windows and POSIX twins stand with the other child processes (process_*.cpp).
#pragma once
#include <functional>
#include <optional>
#include <string_view>

#include "core/system/system.h"

namespace lockstep::system {

// Runs the program in a process group of its own, so that the terminal's Ctrl-C is this process's alone. `next` is called on
// this thread whenever the program has taken the piece before: an empty piece ends its standard input, and the program may
// end; none ends the program and what it started at once (End::timed_out). What it prints, up to 64 KiB, is the output. A
// program that ends early is asked for no further piece.
ChildOutcome run_fed(const Foreground& run, const std::function<std::optional<std::string_view>()>& next);

// run_in_foreground; after so many seconds (0: never) the program is asked to end, and two seconds later ended
// (End::timed_out).
ChildOutcome run_in_foreground_within(const Foreground& run, double seconds);

}  // namespace lockstep::system
