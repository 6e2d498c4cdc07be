// What `lockstep grade` was asked for and what comes of it. Internal to app/cli/lesson.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/lesson/handed_in.h"
#include "lessons/player/exercise.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::cli {

// --program: what a whole program is run with, and what it has to do.
struct ProgramTest {
    bool asked = false;
    std::vector<std::string> arguments;  // behind "--"
    std::string input, expected;         // files with its stdin and its stdout; "" none, not looked at
    int status = 0;
    std::string check = "all", gpu = "v100";
    double points = 1, processor_seconds = 60, memory_gib = 4;
    uint64_t threads = 256, output_bytes = 1 << 20;
};

struct GradeAsked {
    std::string lesson, puzzle, exercise, compiler, format = "text", out = "-";
    std::vector<std::string> submissions, places;  // places: those without --submission in front of them
    double max_seconds = 60;                       // processor time of one exercise; with --program of the clock on the wall
    int jobs = 0;                                  // submissions at once; 0: as many as there are cores
    ProgramTest program;
    std::function<bool()> stopped = [] { return false; };  // Ctrl-C: no more is begun
};

struct GradedDesign {  // of a puzzle; 0: it was not run
    std::string medal;
    double time_us = 0, mm2 = 0, watts = 0;
};

struct Graded {                           // one exercise of one submission
    std::string exercise, file, problem;  // problem: why it could not be judged; empty: it was
    std::string compiler;                 // its version; of what is not compiled empty
    lessons::ExerciseReport report;
    double seconds = 0;  // of processor time; of a program those of the clock on the wall
    std::string note;    // "my_window.cu is taken as window.cu"
    std::optional<GradedDesign> design;
    bool ended_before = false;  // Ctrl-C came before it was judged: it has no points, not none

    void not_judged() {
        ended_before = true;
        problem = "it was not judged: the grading was ended before";
    }
    bool passed() const { return problem.empty() && report.passed; }
    double points() const { return problem.empty() ? report.points : 0; }
    std::string reasons() const {
        if (!problem.empty()) return problem;
        return fmt::format("{}", fmt::join(report.lines, "\n"));
    }
};
struct GradedSubmission {
    std::string name;
    std::vector<Graded> exercises;
    double points = 0, of_points = 0;
    void add_up() {
        for (const Graded& graded : exercises) points += graded.points(), of_points += graded.report.of_points;
    }
    bool passed() const {
        return std::all_of(exercises.begin(), exercises.end(), [](const Graded& graded) { return graded.passed(); });
    }
    bool judged() const {  // to its end
        return std::none_of(exercises.begin(), exercises.end(), [](const Graded& graded) { return graded.ended_before; });
    }
};
// Of a submission that Ctrl-C came before.
inline GradedSubmission not_judged(const HandedIn& submission, const std::string& exercise, double of_points) {
    GradedSubmission made{submission.name, {}, 0, of_points};
    Graded& graded = made.exercises.emplace_back();
    graded.exercise = exercise;
    graded.file = submission.place.filename().string();
    graded.report.of_points = of_points;
    graded.not_judged();
    return made;
}

// A line when a submission has been graded: how many have been, and it.
using GradedSink = std::function<void(size_t done, const GradedSubmission& graded)>;

// Kernels and the other files of a lesson's exercises, in child processes of this program: a crash costs one exercise its
// points and nothing else. `scratch`: a folder for what is unpacked on the way.
std::vector<GradedSubmission> grade_answers(const lessons::Lesson& lesson,
                                            const std::vector<const lessons::Exercise*>& exercises,
                                            const std::vector<HandedIn>& submissions, const GradeAsked& asked,
                                            const std::filesystem::path& scratch, const GradedSink& sink);

struct DesignsWanted {  // for a puzzle
    lessons::Puzzle puzzle;
    lessons::Exercise as_exercise;  // whose answer is a file mine.toml
    std::vector<const lessons::Exercise*> exercises() const;
};
// Throws Failure where there is no such puzzle.
DesignsWanted designs_wanted(const std::string& puzzle);
std::vector<GradedSubmission> grade_designs(const DesignsWanted& wanted, const std::vector<HandedIn>& submissions,
                                            const GradeAsked& asked, const std::filesystem::path& scratch,
                                            const std::stop_token& stop, const GradedSink& sink);

const std::vector<std::string>& grade_formats();
constexpr const char* graded_puzzle = "puzzle";  // the id of the lesson that stands for one, whose title is the puzzle's
// A name of grade_formats(); Gradescope's holds one submission.
std::string grades_as(const std::string& format, const lessons::Lesson& lesson, const std::vector<GradedSubmission>& graded);

// A submission with main(), a file or a folder of sources, in a sandbox; with a `problem` it is not looked at. Throws
// Failure(missing) where there is none.
GradedSubmission grade_program(const std::string& given, const GradeAsked& asked, const std::string& problem = {});
// Throws Failure where the test itself cannot be: a file that is not there, a list of checks that is none.
void check_program_test(const ProgramTest& test);

}  // namespace lockstep::cli
