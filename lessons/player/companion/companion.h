// What goes with a lesson beside its steps: its last page (what was found, questions, the way back and on), what a lecturer
// needs (timed plans, what students believe, how classes divide) and the same things in today's tools. Texts alone: figures
// that the engine computes stand in the lesson. Read from companion.toml beside lesson.md:
//   recap = "..."     back = "A07: ..."     forward = "A09: ..."
//   [[question]] ask, answer                         three of them
//   [[plan]] minutes, parts = [[step, minutes, "..."]]   of 25, 50 and 90 minutes
//   [[misconception]] believed, instead, step
//   [[split]] predict, most, say                     one for each prediction
//   [[same]] step, language, title, code
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lessons/player/lesson.h"

namespace lockstep::lessons {

struct Companion {
    struct Question {
        std::string ask, answer;
    };
    struct PlanPart {
        int step = 0, minutes = 0;  // step: from 1
        std::string what;
    };
    struct Plan {
        int minutes = 0;
        std::vector<PlanPart> parts;
        int taken() const;  // minutes of all parts
    };
    struct Misconception {
        std::string believed, instead;
        int step = 0;
    };
    struct Split {  // how a class tends to divide; a judgement of whoever wrote it
        std::string predict, most, say;
    };
    struct Same {
        int step = 0;
        std::string language, title, code;
        std::string where() const { return language == "Shell" ? "from a shell" : "in " + language; }
    };
    std::string recap, back, forward;  // back, forward: "A07: ...", "" none
    std::vector<Question> questions;
    std::vector<Plan> plans;
    std::vector<Misconception> misconceptions;
    std::vector<Split> splits;
    std::vector<Same> same;

    const Plan* plan(int minutes) const;  // the longest that fits; null: none does
    // The lesson's id at the front of `back` or `forward`, and the words behind it.
    static std::pair<std::string, std::string> link(const std::string& text);
};

Result<Companion> parse_companion(const std::string& text, const std::filesystem::path& file);
// None where the lesson has no such file.
Result<std::optional<Companion>> companion_of(const Lesson& lesson);
// What does not fit the lesson: steps and predictions that it lacks, plans that take longer than they say.
std::vector<std::string> companion_problems(const Lesson& lesson, const Companion& companion);

}  // namespace lockstep::lessons
