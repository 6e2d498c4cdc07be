// Judging a learner's tensor program (*.tape) or training runs (*.train). A program must start from the reference's tensors
// and leave the same loss, values and gradients of its params, for several random fillings; training runs keep the model,
// data, seed and tests of the task and are judged by their figures alone. Both by figures of what ran, as check= asks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/close_enough.h"
#include "core/base/files.h"
#include "core/scene/figures/figure_name.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/training_runs.h"
#include "lessons/player/exercise_parts.h"
#include "lessons/player/predict.h"

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

Result<ExerciseReport> check_engine_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                             const std::string& file, const RunOptions& options) {
    auto placed = [&](Diagnostic d) {
        if (d.where.file.empty()) d.where = exercise.where;
        return d;
    };
    Scene where;
    where.gpu = exercise.gpu;
    const std::string gpu = gpu_of(lesson, where, options);
    const Result<Expression> check = Expression::parse(exercise.check);
    if (!check) return placed(check.error());
    const bool is_tape = exercise.file.ends_with(".tape");
    const auto read = [&](const std::string& name) -> Result<std::string> {
        return read_file(lesson.folder / name, 1 << 20);
    };
    const Result<std::string> reference_text = read(exercise.reference);
    if (!reference_text) return reference_text.error();

    ExerciseReport report;
    report.exercise = exercise.id;
    report.of_points = exercise.points;
    std::string wrong;
    std::map<std::string, std::shared_ptr<const SceneResult>> ran;  // by run: "" the learner's

    const auto tape_result = [&](const TapeText& tape) -> Result<std::shared_ptr<const SceneResult>> {
        const auto run = run_tape(tape, {.device = "sim:" + gpu,
                                         .keep_runs = options.keep_runs,
                                         .seed = lesson.seed + 1,
                                         .stop = options.stop,
                                         .progress = options.progress});
        if (!run) return run.error();
        auto result = std::make_shared<SceneResult>();
        result->tape = run.value();
        result->step = run.value()->step;
        return std::shared_ptr<const SceneResult>(result);
    };
    const auto train_result = [&](const std::vector<TrainingSpec>& specs) -> Result<std::shared_ptr<const SceneResult>> {
        try {
            Result<TrainingRuns> runs = run_training(
                specs, {.gpu = gpu, .keep_runs = options.keep_runs, .stop = options.stop, .progress = options.progress});
            if (!runs) return runs.error();
            auto result = std::make_shared<SceneResult>();
            result->training = std::make_shared<const TrainingRuns>(std::move(runs).value());
            result->step = result->training->step;
            return std::shared_ptr<const SceneResult>(result);
        } catch (const Cancelled&) {
            throw;
        } catch (const Failure& failure) {
            if (failure.status == ExitStatus::missing) throw;
            return failure.diagnostic;
        }
    };
    const auto result_of = [&](const std::string& program,
                               const std::string& name) -> Result<std::shared_ptr<const SceneResult>> {
        if (is_tape) {
            const Result<TapeText> tape = parse_tape(program, name);
            if (!tape) return tape.error();
            return tape_result(tape.value());
        }
        const auto specs = parse_training(program, {name, 1, 1}, lesson.seed);
        if (!specs) return specs.error();
        return train_result(specs.value());
    };

    const std::vector<std::string> names = check.value().names();
    const bool by_outputs = std::find(names.begin(), names.end(), "outputs") != names.end();
    if (is_tape) {
        const Result<TapeText> wanted = parse_tape(reference_text.value(), exercise.reference);
        if (!wanted) return wanted.error();
        const Result<TapeText> got = parse_tape(text, file);
        if (!got) return refused(exercise, "it can be read", render(got.error()));
        if (const std::string why = other_leaves(got.value(), wanted.value()); !why.empty())
            return refused(exercise, "it starts from the task's tensors", why);
        for (int i = 0; by_outputs && i < random_fillings(exercise) && wrong.empty(); ++i) {
            const TapeRunOptions how{.seed = lesson.seed + 1 + static_cast<uint64_t>(i), .stop = options.stop};
            TapeText expected_text = wanted.value(), got_text = got.value();
            expected_text.mode = got_text.mode = nn::Mode::direct;  // a mode changes no bit, and a replay keeps few values
            const auto expected = run_tape(expected_text, how);
            if (!expected) return placed(expected.error());
            const auto made = run_tape(got_text, how);
            if (!made) return refused(exercise, "it runs", render(made.error()));
            ++report.launches;
            wrong = tape_difference(*made.value(), *expected.value());
        }
    } else {
        const auto wanted = parse_training(reference_text.value(), {exercise.reference, 1, 1}, lesson.seed);
        if (!wanted) return wanted.error();
        const auto got = parse_training(text, {file, 1, 1}, lesson.seed);
        if (!got) return refused(exercise, "it can be read", render(got.error()));
        if (const std::string why = other_task(got.value(), wanted.value()); !why.empty())
            return refused(exercise, "it keeps to the task", why);
        if (by_outputs) return placed(Diagnostic{"training runs are judged by figures, not by outputs"});
    }
    const Result<std::shared_ptr<const SceneResult>> mine = result_of(text, file);
    if (!mine) return refused(exercise, "it runs", render(mine.error()));
    ran[""] = mine.value();
    report.timed = mine.value();
    if (!is_tape)
        for (const TrainedRun& run : mine.value()->training->runs) report.launches += static_cast<int>(run.loss.size());

    const auto lookup = [&](const std::string& full) -> Result<double> {
        if (full == "outputs") return wrong.empty() ? 1.0 : 0.0;
        if (full == "reference") return 1.0;
        std::string name = full;
        const std::string which = take_suffix(name, "run");
        if (!ran.count(which)) {
            if (which != "reference" && which != "starter")
                return Diagnostic{fmt::format("unknown run '{}': there are reference and starter", which)};
            const Result<std::string> program = which == "reference" ? reference_text : read(exercise.file);
            if (!program) return program.error();
            const auto result = result_of(program.value(), which);
            if (!result) return result.error();
            ran[which] = result.value();
        }
        Result<double> value = figure_of(*ran[which], name);
        if (value || !which.empty()) return value;
        // What a learner's program lacks or does not reach is no mistake of the lesson, where the reference has it.
        if (!ran.count("reference")) {
            const auto result = result_of(reference_text.value(), exercise.reference);
            if (!result) return result.error();
            ran["reference"] = result.value();
        }
        if (figure_of(*ran["reference"], name)) return std::numeric_limits<double>::quiet_NaN();
        return value;
    };
    if (const auto problem = judge_clauses(report, check.value(),
                                           {lookup, wrong, fmt::format("the same for all {} fillings", report.launches)}))
        return placed(*problem);
    return report;
}

}  // namespace lockstep::lessons
