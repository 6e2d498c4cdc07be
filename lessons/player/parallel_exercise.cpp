// Judging a learner's rows of many ranks (*.schedule, *.plan ...) by the figures of what ran. What of them is the task's and
// not the learner's (ranks, micro-batches) stands in check= too: settings are figures.
#include "core/base/files.h"
#include "core/scene/cluster/parallel_scene.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/pinned.h"

namespace lockstep::lessons {

using namespace scene;

Result<ExerciseReport> check_parallel_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                               const std::string& file, const RunOptions& options) {
    const std::string kind(parallel_kind_of(exercise.file)->name);
    if (!exercise.changes.empty()) {
        const Result<std::string> starter = read_file(lesson.folder / exercise.file, 1 << 20);
        if (!starter) return starter.error();
        if (const std::string why = changed_rows(text, starter.value(), exercise.changes); !why.empty())
            return refused(exercise, "it keeps to the task", why);
    }
    ExerciseRuns runs([&](const std::string& run) -> Result<SceneResult> {
        const std::string& name = run.empty() ? file : run == "starter" ? exercise.file : exercise.reference;
        const Result<std::string> rows = run.empty() ? Result<std::string>(text) : read_file(lesson.folder / name, 1 << 20);
        if (!rows) return rows.error();
        const auto made = run_parallel_scene(kind, rows.value(), {name, 1, 1},
                                             {.seed = lesson.seed, .stop = options.stop, .progress = options.progress});
        if (!made) return made.error();
        return SceneResult{made.value()};
    });
    const Result<SceneResult> mine = runs.of("");
    if (!mine) return refused(exercise, "it runs", render(mine.error()));
    ExerciseReport report = empty_report(exercise);
    report.timed = mine.value();
    report.launches = static_cast<int>(mine.value().as<ParallelScene>()->rows.size());
    if (const auto problem = judge_clauses(report, exercise.check,
                                           {[&](const FigureName& name) { return runs.figure_or_nan(name); }, "", ""}))
        return placed(exercise, *problem);
    return report;
}

}  // namespace lockstep::lessons
