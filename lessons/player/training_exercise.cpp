// Judging a learner's training runs (*.train): they keep the model, data, seed and tests of the task and are judged by their
// figures alone.
#include <fmt/format.h>

#include "core/base/files.h"
#include "core/scene/training/training_runs.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/pinned.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

// What of the task a training run must keep; empty when it does.
std::string other_task(const std::vector<TrainingSpec>& got, const std::vector<TrainingSpec>& wanted) {
    if (got.size() != wanted.size()) return fmt::format("the task has {} runs", wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
        const nn::TrainerOptions &a = got[i].options, &b = wanted[i].options;
        if (a.model != b.model || a.data != b.data) return "the model and its data are part of the task";
        if (a.seed != b.seed) return "the seed is part of the task";
        if (got[i].test != wanted[i].test || got[i].target != wanted[i].target)
            return "test= and target= are part of the task";
    }
    return {};
}

}  // namespace

Result<ExerciseReport> check_training_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                               const std::string& file, const RunOptions& options) {
    using Specs = std::vector<TrainingSpec>;
    if (exercise.check.names("outputs"))
        return placed(exercise, Diagnostic{"training runs are judged by figures, not by outputs"});
    Scene where;
    where.gpu = exercise.gpu;
    const auto read = [&](const std::string& name) -> Result<Specs> {
        const Result<std::string> found = read_file(lesson.folder / name, 1 << 20);
        if (!found) return found.error();
        return parse_training(found.value(), {name, 1, 1}, lesson.seed);
    };
    const Result<Specs> reference = read(exercise.reference);
    if (!reference) return reference.error();
    const Result<Specs> learner = parse_training(text, {file, 1, 1}, lesson.seed);
    if (!learner) return refused(exercise, "it can be read", render(learner.error()));
    if (const std::string why = other_task(learner.value(), reference.value()); !why.empty())
        return refused(exercise, "it keeps to the task", why);
    if (!exercise.changes.empty()) {
        const Result<std::string> starter = read_file(lesson.folder / exercise.file, 1 << 20);
        if (!starter) return starter.error();
        if (const std::string why = changed_rows(text, starter.value(), exercise.changes); !why.empty())
            return refused(exercise, "it keeps to the task", why);
    }

    ExerciseRuns runs([&](const std::string& run) -> Result<SceneResult> {
        const Result<Specs> specs = run.empty() ? learner : run == "reference" ? reference : read(exercise.file);
        if (!specs) return specs.error();
        try {
            Result<TrainingRuns> made = run_training(specs.value(), {.gpu = gpu_of(lesson, where, options),
                                                                     .keep_runs = options.keep_runs,
                                                                     .stop = options.stop,
                                                                     .progress = options.progress});
            if (!made) return made.error();
            return SceneResult{std::make_shared<const TrainingRuns>(std::move(made).value())};
        } catch (const Cancelled&) {
            throw;
        } catch (const Failure& failure) {
            if (failure.status == ExitStatus::missing) throw;
            return failure.diagnostic;
        }
    });
    const Result<SceneResult> mine = runs.of("");
    if (!mine) return refused(exercise, "it runs", render(mine.error()));
    ExerciseReport report = empty_report(exercise);
    report.timed = mine.value();
    for (const TrainedRun& run : mine.value().as<TrainingRuns>()->runs) report.launches += static_cast<int>(run.loss.size());
    if (const auto problem = judge_clauses(report, exercise.check,
                                           {[&](const FigureName& name) { return runs.figure_or_nan(name); }, "", ""}))
        return placed(exercise, *problem);
    return report;
}

}  // namespace lockstep::lessons
