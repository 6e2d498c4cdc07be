// `lockstep grade --puzzle NAME`: designs of a class against one puzzle. A submission is a file mine.toml, a folder or an
// archive with one; what earns no medal earns no point, bronze one, silver two, gold three.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/lesson/grade.h"
#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/model/gpus/gpu_file.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using lessons::Medal;

constexpr const char* design_file = "mine.toml";
constexpr size_t largest_design = size_t{1} << 20;

int points_of(Medal medal) {
    return static_cast<int>(medal);
}

// A folder's only .toml is its design, whatever it is called.
void take_the_only_design(const HandedIn& submission, Answer& answer) {
    std::error_code error;
    if (answer.problem.empty() || !submission.problem.empty() || !fs::is_directory(submission.place, error)) return;
    std::vector<fs::path> designs;
    for (const auto& entry : fs::directory_iterator(submission.place, error))
        if (entry.path().extension() == ".toml" && entry.is_regular_file(error) && !entry.is_symlink(error))
            designs.push_back(entry.path());
    if (designs.size() != 1) return;
    answer.file = designs.front();
    answer.shown = designs.front().filename().string();
    answer.note = fmt::format("{} is taken as {}", answer.shown, design_file);
    answer.problem.clear();
}

// Where a design may inherit from: its own folder, and nothing else where it was handed in alone, beside those of others.
fs::path own_folder(const HandedIn& submission, const Answer& answer) {
    std::error_code error;
    return fs::equivalent(submission.place, answer.file, error) ? answer.file : answer.file.parent_path();
}

// Reasons name a file as it was handed in: not the folder that its archive is unpacked to, which is another in each run.
std::string without_scratch(std::string text, const fs::path& scratch) {
    const std::string folder = scratch.string() + "/";
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
        const size_t own = text.find('/', at + folder.size());  // "archive1"
        if (own == std::string::npos) break;
        text.erase(at, own + 1 - at);
    }
    return text;
}

Graded judge_design(const lessons::Puzzle& puzzle, const scene::DesignLaunch& launch, const lessons::Thresholds& thresholds,
                    const Answer& answer, const fs::path& within, const fs::path& scratch, const std::stop_token& stop) {
    Graded graded;
    graded.exercise = puzzle.id;
    graded.file = answer.shown;
    graded.note = answer.note;
    graded.report.of_points = points_of(Medal::gold);
    graded.problem = answer.problem;
    if (!graded.problem.empty()) return graded;
    if (!model::is_gpu_file(answer.file.string())) {
        graded.problem = fmt::format("{} is no design: a GPU's file ends in .toml, as mine.toml does", answer.shown);
        return graded;
    }
    try {
        const Result<std::string> text = read_text(answer.file, largest_design);
        if (!text) throw Failure(text.error());
        const model::GpuSpec gpu = model::parse_gpu_file(text.value(), answer.file.string(), within).value();
        const lessons::PuzzleResult result = lessons::judge_for(puzzle, launch, thresholds, gpu, stop);
        const bool ran = result.run.cycles > 0;
        graded.design = {std::string(lessons::name_of(result.medal)), ran ? result.run.time_us : 0, ran ? result.run.mm2 : 0,
                         ran ? result.run.watts : 0};
        graded.report.exercise = puzzle.id;
        graded.report.passed = result.medal != Medal::none;
        graded.report.points = points_of(result.medal);
        if (ran)
            graded.report.lines.push_back(fmt::format("{} (simulated), {:.2f} mm2, {:.2f} W (estimates)",
                                                      time_text(result.run.time_us), result.run.mm2, result.run.watts));
        graded.report.lines.push_back(fmt::format("{}{}{}",
                                                  graded.report.passed ? lessons::name_of(result.medal) : "no medal",
                                                  result.why.empty() ? "" : ": ", result.why));
    } catch (const Failure& failure) {
        graded.problem = without_scratch(render(failure.diagnostic), scratch);
    }
    return graded;
}

}  // namespace

std::vector<const lessons::Exercise*> DesignsWanted::exercises() const {
    return {&as_exercise};
}

DesignsWanted designs_wanted(const std::string& name) {
    DesignsWanted wanted;
    wanted.puzzle = lessons::puzzle_named(name).value();
    wanted.as_exercise.id = wanted.puzzle.id;
    wanted.as_exercise.file = design_file;
    wanted.as_exercise.points = points_of(Medal::gold);
    return wanted;
}

std::vector<GradedSubmission> grade_designs(const DesignsWanted& wanted, const std::vector<HandedIn>& submissions,
                                            const GradeAsked& asked, const fs::path& scratch, const std::stop_token& stop,
                                            const GradedSink& sink) {
    const lessons::Puzzle& puzzle = wanted.puzzle;
    const scene::DesignLaunch launch = lessons::launch_of(puzzle);
    std::vector<GradedSubmission> graded(submissions.size());
    lessons::Thresholds thresholds;
    try {
        thresholds = lessons::thresholds_of(puzzle, launch, stop);
    } catch (const Cancelled&) {
        for (size_t i = 0; i < graded.size(); ++i)
            graded[i] = not_judged(submissions[i], puzzle.id, wanted.as_exercise.points);
        return graded;
    }
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    size_t done = 0;
    const HandedInWanted files{wanted.exercises()};
    const size_t jobs = std::min<size_t>(submissions.size(), asked.jobs > 0 ? static_cast<size_t>(asked.jobs) : cores());
    const unsigned share = cores() / std::max(1u, static_cast<unsigned>(jobs));
    const auto work = [&] {
        const ShareOfCores mine(share);
        for (size_t at = next++; at < submissions.size() && !asked.stopped(); at = next++) {
            const HandedIn& submission = submissions[at];
            std::vector<Answer> answers;
            {
                const std::lock_guard lock(mutex);
                answers = answers_in(submission, files, scratch);
            }
            GradedSubmission made{submission.name, {}, 0, 0};
            try {
                for (Answer& answer : answers) {
                    take_the_only_design(submission, answer);
                    made.exercises.push_back(
                        judge_design(puzzle, launch, thresholds, answer, own_folder(submission, answer), scratch, stop));
                }
            } catch (const Cancelled&) {
                return;
            }
            made.add_up();
            const std::lock_guard lock(mutex);
            graded[at] = std::move(made);
            if (sink) sink(++done, graded[at]);
        }
    };
    {
        std::vector<std::jthread> threads;
        for (size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
        work();
    }
    for (size_t i = 0; i < graded.size(); ++i)
        if (graded[i].exercises.empty()) graded[i] = not_judged(submissions[i], puzzle.id, wanted.as_exercise.points);
    return graded;
}

}  // namespace lockstep::cli
