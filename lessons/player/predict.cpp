#include "lessons/player/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/base/close_enough.h"
#include "core/scene/figures/expression.h"
#include "core/scene/figures/figure_name.h"
#include "core/scene/training/model_figures.h"

namespace lockstep::lessons {

using namespace scene;

Result<std::shared_ptr<const SceneResult>> SceneRuns::of(const Scene& scene) {
    if (const auto found = results_.find(&scene); found != results_.end()) return found->second;
    Result<std::shared_ptr<const SceneResult>> result = run_scene(lesson_, scene, options_);
    if (result) results_[&scene] = result.value();
    return result;
}

void SceneRuns::remember(const Scene& scene, std::shared_ptr<const SceneResult> result) {
    results_[&scene] = std::move(result);
}

Result<double> truth_of(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<Expression> expression = Expression::parse(predict.of);
    if (!expression) return expression.error();
    Result<double> truth = expression.value().evaluate([&](const std::string& full) -> Result<double> {
        if (std::optional<Result<double>> named = figure_of_named_gpu(full)) return *named;
        if (std::optional<Result<double>> named = figure_of_named_model(full)) return *named;
        std::string name = full;
        const std::string id = take_suffix(name, "scene");
        const Scene* scene = id.empty() ? scene_at(runs.lesson(), step) : nullptr;
        if (!id.empty())
            for (const Step& other : runs.lesson().steps)
                for (const Scene& candidate : other.scenes)
                    if (candidate.id == id) scene = &candidate;
        if (!scene)
            return Diagnostic{id.empty() ? "no scene stands before this prediction"
                                         : fmt::format("no scene has the id '{}'", id)};
        Result<std::shared_ptr<const SceneResult>> result = runs.of(*scene);
        if (!result) return result.error();
        return figure_of(*result.value(), name);
    });
    if (truth) return truth;
    Diagnostic d = truth.error();
    if (d.where.file.empty()) d.where = predict.where;
    return d;
}

bool asks_of_other_gpus(const Predict& predict, const std::vector<std::string>& on_show) {
    constexpr std::string_view in_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@:-";
    bool any = false;
    for (size_t at = 0; at < predict.of.size();) {
        if (std::isalpha(static_cast<unsigned char>(predict.of[at])) == 0) {
            ++at;
            continue;
        }
        const size_t end = std::min(predict.of.size(), predict.of.find_first_not_of(in_names, at));
        const std::string figure = predict.of.substr(at, end - at);
        const size_t gpu = figure.find("@gpu:");
        if (!figure.starts_with("gpu.") || gpu == std::string::npos) return false;
        if (std::find(on_show.begin(), on_show.end(), figure.substr(gpu + 5)) != on_show.end()) return false;
        any = true;
        at = end;
    }
    return any;
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
