// Where a learner edits an exercise: a copy of its starter under XDG_STATE_HOME (or ~/.local/state), made when first asked
// for.
#pragma once
#include <filesystem>

#include "lessons/player/lesson.h"

namespace lockstep::gui {

std::filesystem::path work_file(const lessons::Lesson& lesson, const lessons::Exercise& exercise);  // throws Failure

}  // namespace lockstep::gui
