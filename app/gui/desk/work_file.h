// Where a learner edits an exercise: a copy of its starter under XDG_STATE_HOME (or ~/.local/state), made when first asked
// for. And the way back: which exercise a document on the desk answers.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "app/gui/desk/kernel_document.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {

class Session;

std::filesystem::path work_file(const lessons::Lesson& lesson, const lessons::Exercise& exercise);  // throws Failure
// The launch that the exercise is checked with first, for its kernel in this source: what the learner's copy opens with.
LaunchSettings launch_of(const lessons::Lesson& lesson, const lessons::Exercise& exercise, const std::string& source);

// The id of the lesson whose exercise the file is a learner's copy of; empty: it is no exercise.
std::string exercise_lesson(const std::string& path);

struct ExerciseOnDesk {
    std::string lesson_id;                          // empty: the document answers no exercise
    std::shared_ptr<const lessons::Lesson> lesson;  // null: no lesson has that id any more
    int step = -1;
    size_t index = 0;   // among the step's exercises
    bool open = false;  // the lesson is the one that is open
    const lessons::Exercise* exercise() const {
        return step < 0 ? nullptr : &lesson->steps[static_cast<size_t>(step)].exercises[index];
    }
};
// Of the open document. `known`: what was found before; a lesson that is not open is read once.
const ExerciseOnDesk& exercise_on_desk(const Session& session, ExerciseOnDesk& known);

// Opens the learner's copy of an exercise of the open lesson in the Kernel workspace.
void edit_exercise(Session& session, const lessons::Exercise& exercise);
// Puts the lesson's text of it, and its launch, in the place of what the learner has written in the open document.
void begin_again(Session& session, const lessons::Lesson& lesson, const lessons::Exercise& exercise);
// Checks it: what is in the editor where the copy is open there, else the file. Of an exam that is not handed in it is saved
// and counts as answered, and nothing is judged.
void check_exercise(Session& session, int step, size_t exercise);
// Every answer is locked, and every exercise is judged as it is now.
void hand_in_exam(Session& session);

}  // namespace lockstep::gui
