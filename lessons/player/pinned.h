// What of the task a submission has to leave alone. `changes=` of an exercise names what may differ from the starter:
//
//   rows and training runs   settings by their names ("dp tp zero"), of one row with @row ("batch@row:mine"); `head` is what
//   a
//                            row begins with, `lists` are its "rank N:" and "round N:" lines
//   host programs            kinds of operations ("h2d d2h free"): all others are the starter's, in whatever order and
//   stream
//
// An exercise without it says all that it asks for in check=. Internal to lessons/player.
#pragma once
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

// What was changed that is the task's, in one sentence; empty: nothing. The submission has been read already.
std::string changed_rows(const std::string& text, const std::string& starter, const std::vector<std::string>& changes);
std::string changed_operations(const scene::HostText& program, const scene::HostText& starter,
                               const std::vector<std::string>& changes);
// The first function of a tensor program that is in `without`, with its line; empty: none is.
std::string function_not_allowed(const scene::TapeText& program, const std::vector<std::string>& without);

}  // namespace lockstep::lessons
