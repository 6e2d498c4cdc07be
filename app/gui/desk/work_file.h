// Where a learner edits an exercise: a copy of its starter under XDG_STATE_HOME (or ~/.local/state), made when first asked
// for.
#pragma once
#include <filesystem>

#include "app/gui/desk/kernel_document.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {

std::filesystem::path work_file(const lessons::Lesson& lesson, const lessons::Exercise& exercise);  // throws Failure
// The launch that the exercise is checked with first, for its kernel in this source: what the learner's copy opens with.
LaunchSettings launch_of(const lessons::Lesson& lesson, const lessons::Exercise& exercise, const std::string& source);

}  // namespace lockstep::gui
