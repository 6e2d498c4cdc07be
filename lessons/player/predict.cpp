#include "lessons/player/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/close_enough.h"
#include "core/base/rng.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/figures/askable.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

// The scene that a figure of a prediction is of: @scene:ID, else the step's.
Result<const Scene*> scene_asked(const Lesson& lesson, size_t step, const FigureName& name) {
    const std::string id = name.place("scene");
    const Scene* scene = id.empty() ? scene_at(lesson, step) : scene_named(lesson, id);
    if (scene) return scene;
    return Diagnostic{id.empty() ? "no scene stands before this prediction" : fmt::format("no scene has the id '{}'", id)};
}

}  // namespace

bool of_no_scene(const FigureName& name) {
    return (name.base.starts_with("gpu.") && !name.place("gpu").empty()) ||
           (name.base.starts_with("model.") && !name.place("model").empty());
}

Result<SceneResult> SceneRuns::of(const Scene& scene) {
    if (const auto found = results_.find(&scene); found != results_.end()) return found->second;
    Result<SceneResult> result = run_scene(lesson_, scene, options_);
    if (result) remember(scene, result.value());
    return result;
}

void SceneRuns::remember(const Scene& scene, SceneResult result) {
    results_.insert_or_assign(&scene, std::move(result));
}

std::optional<Diagnostic> unaskable(const Lesson& lesson, size_t step, const FigureName& name) {
    if (of_no_scene(name)) return refusal_of({}, name);
    const Result<const Scene*> scene = scene_asked(lesson, step, name);
    if (!scene) return scene.error();
    return refusal_of(askable_figures(lesson, *scene.value()), name.without("scene"));
}

std::optional<Diagnostic> unaskable(const Lesson& lesson, const Exercise& exercise, const FigureName& name) {
    const bool by_figures = exercise.file.ends_with(".train") || is_parallel_program(exercise.file);
    if (name.text == "outputs" && by_figures)
        return Diagnostic{"training runs and rows of many ranks are judged by figures, not by outputs"};
    if (name.text == "outputs" || name.text == "reference") return std::nullopt;
    if (const std::string run = name.place("run"); !run.empty() && run != "reference" && run != "starter")
        return Diagnostic{fmt::format("unknown run '{}': there are reference and starter", run)};
    Scene scene;
    if (is_host_program(exercise.file)) scene.host = exercise.reference;
    if (is_tensor_program(exercise.file)) scene.tape = exercise.reference;
    if (is_engine_program(exercise.file)) scene.train = exercise.reference;
    if (const ParallelKind* kind = parallel_kind_of(exercise.file)) scene.parallel_kind = kind->name;
    return refusal_of(askable_figures(lesson, scene), name.without("run"));
}

Result<double> truth_of(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<double> truth = predict.of.evaluate([&](const FigureName& name) -> Result<double> {
        if (std::optional<Result<double>> known = figure_without_scene(name)) return *known;
        const Result<const Scene*> scene = scene_asked(runs.lesson(), step, name);
        if (!scene) return scene.error();
        const Result<SceneResult> result = runs.of(*scene.value());
        if (!result) return result.error();
        return figure_of(result.value(), name.without("scene"));
    });
    if (truth) return truth;
    Diagnostic d = truth.error();
    if (d.where.file.empty()) d.where = predict.where;
    return d;
}

bool asks_of_other_gpus(const Predict& predict, const std::vector<std::string>& on_show) {
    const std::vector<FigureName> names = predict.of.names();
    return !names.empty() && std::all_of(names.begin(), names.end(), [&](const FigureName& name) {
        const std::string gpu = name.place("gpu");
        return name.base.starts_with("gpu.") && !gpu.empty() &&
               std::find(on_show.begin(), on_show.end(), gpu) == on_show.end();
    });
}

uint64_t learner_of(const std::string& who) {
    uint64_t h = 1469598103934665603u;  // FNV-1a
    for (const char c : who) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return h;
}

std::vector<size_t> shown_order(const Lesson& lesson, const Predict& predict, uint64_t learner) {
    std::vector<size_t> order(predict.answers.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    Rng rng(learner_of(lesson.id + "/" + predict.id) ^ lesson.seed ^ learner);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    return order;
}

bool agrees(const Predict& predict, const Answer& answer, double truth) {
    return answer.has_value && within(answer.value, truth, predict.tolerance * std::max(std::fabs(truth), 1e-12));
}

int right_answer(const Predict& predict, double truth) {
    int right = -1;
    for (size_t i = 0; i < predict.answers.size(); ++i)
        if (agrees(predict, predict.answers[i], truth)) right = right == -1 ? static_cast<int>(i) : -2;
    return right;
}

}  // namespace lockstep::lessons
