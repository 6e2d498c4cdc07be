// Judging a learner's tensor program (*.tape): it must start from the reference's tensors and leave the same loss, values
// and gradients of its params, for several random fillings; the rest is figures of what ran, as check= asks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/close_enough.h"
#include "core/base/files.h"
#include "core/scene/tape/tape_program.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/pinned.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

// Why the two do not start from the same tensors; empty when they do.
std::string other_leaves(const TapeText& got, const TapeText& wanted) {
    for (const TapeLeaf& leaf : wanted.leaves) {
        const auto same = std::find_if(got.leaves.begin(), got.leaves.end(),
                                       [&](const TapeLeaf& other) { return other.name == leaf.name; });
        if (same == got.leaves.end()) return fmt::format("the tensor '{}' is missing", leaf.name);
        if (same - got.leaves.begin() != &leaf - wanted.leaves.data())
            return fmt::format("the tensor '{}' stands in another place than in the task", leaf.name);
        if (same->kind != leaf.kind || same->shape != leaf.shape || same->fill != leaf.fill || same->values != leaf.values ||
            same->number != leaf.number)
            return fmt::format("the tensor '{}' is part of the task: it is not to be changed", leaf.name);
    }
    if (got.leaves.size() != wanted.leaves.size()) return "the task has fewer tensors to start from";
    if (got.steps != wanted.steps || got.dtype != wanted.dtype)
        return "the number of steps and the type are part of the task";
    return {};
}

bool close_numbers(double a, double b, DType dtype) {
    return close_enough(a, b, dtype == DType::f64 ? 1e-9 : 1e-4, 1e-3);
}

// The first number that differs, in words; empty when none does. A program without `backward` is judged by what its last
// line makes.
std::string tape_difference(const TapeRun& got, const TapeRun& wanted) {
    for (size_t step = 0; step < wanted.loss.size(); ++step)
        if (!std::isnan(wanted.loss[step]) && !close_numbers(got.loss[step], wanted.loss[step], wanted.text.dtype))
            return fmt::format("the loss of step {} is {:.6g} where the reference has {:.6g}", step, got.loss[step],
                               wanted.loss[step]);
    if (!wanted.loss.empty() && std::isnan(wanted.loss.back())) {
        const auto a = got.history.front().find(got.text.last_made());
        const auto b = wanted.history.front().find(wanted.text.last_made());
        if (b != wanted.history.front().end()) {
            const std::vector<double>& right = b->second.value;
            if (a == got.history.front().end() || a->second.value.size() != right.size())
                return fmt::format("the last line makes {} numbers where the reference makes {}",
                                   a == got.history.front().end() ? 0 : a->second.value.size(), right.size());
            for (size_t i = 0; i < right.size(); ++i)
                if (!close_numbers(a->second.value[i], right[i], wanted.text.dtype))
                    return fmt::format("element {} of what the last line makes is {:.6g} where the reference has {:.6g}", i,
                                       a->second.value[i], right[i]);
        }
    }
    for (size_t step = 0; step < wanted.history.size(); ++step)
        for (const TapeLeaf& leaf : wanted.text.leaves) {
            const auto& mine = got.history[step];
            const auto a = mine.find(leaf.name);
            const auto b = wanted.history[step].find(leaf.name);
            if (b == wanted.history[step].end()) continue;
            if (a == mine.end()) return fmt::format("'{}' was not kept", leaf.name);
            for (const auto& [what, left, right] : {std::tuple{"value", &a->second.value, &b->second.value},
                                                    {"gradient", &a->second.gradient, &b->second.gradient}}) {
                if (left->size() != right->size())
                    return fmt::format("'{}' has {} {} where the reference has {}", leaf.name,
                                       left->empty() ? "no" : "another", what, right->empty() ? "none" : "one");
                for (size_t i = 0; i < left->size(); ++i)
                    if (!close_numbers((*left)[i], (*right)[i], wanted.text.dtype))
                        return fmt::format("the {} of {}[{}] is {:.6g} where the reference has {:.6g}", what, leaf.name, i,
                                           (*left)[i], (*right)[i]);
            }
        }
    return {};
}

}  // namespace

Result<ExerciseReport> check_tape_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                           const std::string& file, const RunOptions& options, bool is_starter) {
    Scene where;
    where.gpu = exercise.gpu;
    const auto read = [&](const std::string& name) -> Result<TapeText> {
        const Result<std::string> found = read_file(lesson.folder / name, 1 << 20);
        if (!found) return found.error();
        return parse_tape(found.value(), name);
    };
    const Result<TapeText> reference = read(exercise.reference);
    if (!reference) return reference.error();
    const Result<TapeText> learner = parse_tape(text, file);
    if (!learner) return refused(exercise, "it can be read", render(learner.error()));
    if (const std::string why = other_leaves(learner.value(), reference.value()); !why.empty())
        return refused(exercise, "it starts from the task's tensors", why);
    if (const std::string why = function_not_allowed(learner.value(), exercise.without); !why.empty())
        return refused(exercise, "it keeps to the task", why);

    ExerciseReport report = empty_report(exercise);
    std::string wrong;
    TapeText expected = reference.value(), got = learner.value();
    expected.mode = got.mode = nn::Mode::direct;  // a mode changes no bit, and a replay keeps few values
    for (int i = 0; exercise.check.names("outputs") && i < random_fillings(exercise) && wrong.empty(); ++i) {
        const TapeRunOptions how{.seed = lesson.seed + 1 + static_cast<uint64_t>(i), .stop = options.stop};
        const auto wanted = run_tape(expected, how);
        if (!wanted) return placed(exercise, wanted.error());
        const auto made = run_tape(got, how);
        if (!made) return refused(exercise, "it runs", render(made.error()));
        ++report.launches;
        wrong = tape_difference(*made.value(), *wanted.value());
    }
    ExerciseRuns runs([&](const std::string& run) -> Result<SceneResult> {
        const Result<TapeText> program = run.empty() ? learner : run == "reference" ? reference : read(exercise.file);
        if (!program) return program.error();
        const auto made = run_tape(program.value(), {.device = "sim:" + gpu_of(lesson, where, options),
                                                     .keep_runs = options.keep_runs,
                                                     .seed = lesson.seed + 1,
                                                     .stop = options.stop,
                                                     .progress = options.progress});
        if (!made) return made.error();
        return SceneResult{made.value()};
    });
    const Result<SceneResult> mine = runs.of("");
    if (!mine) return refused(exercise, "it runs", render(mine.error()));
    report.timed = mine.value();
    Judging judging{[&](const FigureName& name) { return runs.figure_or_nan(name); }, wrong,
                    fmt::format("the same for all {} fillings", report.launches)};
    judging.measure_anyway = is_starter;
    if (const auto problem = judge_clauses(report, exercise.check, judging)) return placed(exercise, *problem);
    return report;
}

}  // namespace lockstep::lessons
