// Judging a learner's rows of many ranks (*.schedule, *.plan ...) by the figures of what ran. What of them is the task's and
// not the learner's (ranks, micro-batches) stands in check= too: settings are figures.
#include <fmt/format.h>

#include <limits>
#include <map>

#include "core/base/files.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/figures/figure_name.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/predict.h"

namespace lockstep::lessons {

using namespace scene;

Result<ExerciseReport> check_parallel_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                               const std::string& file, const RunOptions& options) {
    const auto placed = [&](Diagnostic d) {
        if (d.where.file.empty()) d.where = exercise.where;
        return d;
    };
    const Result<Expression> check = Expression::parse(exercise.check);
    if (!check) return placed(check.error());
    const std::string kind(parallel_kind_of(exercise.file)->name);
    std::map<std::string, std::shared_ptr<const SceneResult>> ran;  // by run: "" the learner's
    const auto run = [&](const std::string& rows, const std::string& name) -> Result<std::shared_ptr<const SceneResult>> {
        const auto made = run_parallel_scene(kind, rows, {name, 1, 1},
                                             {.seed = lesson.seed, .stop = options.stop, .progress = options.progress});
        if (!made) return made.error();
        auto result = std::make_shared<SceneResult>();
        result->parallel = made.value();
        return std::shared_ptr<const SceneResult>(result);
    };
    const auto run_file = [&](const std::string& which) -> Result<std::shared_ptr<const SceneResult>> {
        if (ran.count(which)) return ran[which];
        const std::string& name = which == "starter" ? exercise.file : exercise.reference;
        const Result<std::string> rows = read_file(lesson.folder / name, 1 << 20);
        if (!rows) return rows.error();
        const auto result = run(rows.value(), name);
        if (result) ran[which] = result.value();
        return result;
    };

    ExerciseReport report;
    report.exercise = exercise.id;
    report.of_points = exercise.points;
    const auto mine = run(text, file);
    if (!mine) return refused(exercise, "it runs", render(mine.error()));
    ran[""] = mine.value();
    report.timed = mine.value();
    report.launches = static_cast<int>(mine.value()->parallel->rows.size());

    const auto lookup = [&](const std::string& full) -> Result<double> {
        std::string name = full;
        const std::string which = take_suffix(name, "run");
        if (!which.empty() && which != "reference" && which != "starter")
            return Diagnostic{fmt::format("unknown run '{}': there are reference and starter", which)};
        if (!which.empty()) {
            const auto other = run_file(which);
            if (!other) return other.error();
            return figure_of(*other.value(), name);
        }
        Result<double> value = figure_of(*mine.value(), name);
        if (value) return value;
        // What a learner's rows do not leave is no mistake of the lesson, where the reference leaves it.
        const auto other = run_file("reference");
        if (!other) return other.error();
        if (figure_of(*other.value(), name)) return std::numeric_limits<double>::quiet_NaN();
        return value;
    };
    if (const auto problem = judge_clauses(report, check.value(), {lookup, "", ""})) return placed(*problem);
    return report;
}

}  // namespace lockstep::lessons
