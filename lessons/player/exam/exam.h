// An exam on paper, or handed in as a file: answers.txt beside the exercises' files, a line a task:
//
//   lanes = 8            # the figure; of a choice its words or its number
//
// `lockstep lesson show AX` lists the tasks by these names.
#pragma once
#include <map>

#include "lessons/player/exercise.h"

namespace lockstep::lessons {

constexpr const char* exam_answers_file = "answers.txt";
// What stands for an exam's predictions where exercises are graded.
Exercise exam_answers(const Lesson& lesson);

using ExamKey = std::map<std::string, double>;  // truths by prediction
Result<ExamKey> exam_key(const Lesson& lesson, const scene::RunOptions& options = {});
// A clause a task, with its points. What is no task is told and costs nothing.
ExerciseReport judge_exam_answers(const Lesson& lesson, const ExamKey& key, const std::string& text);

}  // namespace lockstep::lessons
