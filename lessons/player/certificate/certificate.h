// A page that lists what a learner has done, from the progress file alone: lessons with their steps, exercises with the day
// on which they passed, medals, exams. It is what one computer recorded, and says so.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "lessons/player/challenge/medal.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

struct Certificate {
    struct Exercise {
        std::string id, on;  // on: "2026-11-27"; "" the file does not say
        double points = 0;
    };
    struct Row {  // a lesson that was begun
        std::string id, title, part;
        size_t done = 0, steps = 0;
        std::vector<Exercise> exercises;
        size_t all_exercises = 0;
        Medal medal = Medal::none;
        bool exam = false;
        double points = 0, of_points = 0;  // of an exam that was handed in, its best try
        bool passed = false;
        std::string on;  // the day of that, or of what was done last
    };
    std::vector<Row> rows;  // in the order of the course
    size_t lessons = 0;     // of the whole course, without exams
    size_t whole() const;   // lessons of which every step is done
    size_t medals(Medal medal) const;
};

// `progress`: the text of the file, a JSON object a line (app/gui/desk/progress.h). A line that cannot be read, or names
// what is no longer there, is skipped.
Certificate certificate_of(const std::string& progress, const std::vector<Lesson>& course);
// One HTML page that needs no other file. `name`: of the learner, "" none; `today`: "2026-11-27".
std::string certificate_page(const Certificate& certificate, const std::string& name, const std::string& today);

// Of the lessons that there are and a file. A Diagnostic: it is not there, or says nothing.
Result<Certificate> certificate_in(const std::filesystem::path& progress);
Result<std::string> certificate_from(const std::filesystem::path& progress, const std::string& name);
std::string today();  // by UTC
// What both pages end in, and how a part is called: "Part A: one GPU".
std::string certificate_says(const std::string& today);
std::string part_title(const std::string& part);

}  // namespace lockstep::lessons
