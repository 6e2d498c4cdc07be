// A lesson on paper: one HTML page that needs no other file. A student's page has steps, pictures and room to answer in; a
// lecturer's has the run's answers, the notes, the timed plans, what students believe and how a class tends to divide.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "lessons/player/check.h"
#include "lessons/player/companion/companion.h"

namespace lockstep::lessons {

struct Handout {
    const Companion* companion = nullptr;  // null: the lesson has none
    const LessonRun* answers = nullptr;    // a lecturer's page, with what the run says; null: a student's
    uint64_t learner = 0;                  // whose order of answers (predict.h); 0: as a class without an app has it
    // The PNG of a step (from 0), before or after its answers are known; empty: the page does without.
    std::function<std::string(size_t step, bool answered)> picture = {};
};
std::string handout_page(const Lesson& lesson, const Handout& handout);

// The plan that fits into so many minutes, as text for a terminal, with what students believe and how classes divide.
// Throws Failure where the lesson has no plan that short.
std::string plan_text(const Lesson& lesson, const Companion& companion, int minutes);

}  // namespace lockstep::lessons
