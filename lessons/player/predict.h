// The truth of a prediction: `of=` is an expression over figures that the engine computed (core/scene/figures/figures.h), of
// the step's scene or with @scene:ID of another; nothing in a lesson states them.
#pragma once
#include <map>

#include "core/scene/figures/figures.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

// Runs each scene once and remembers it: what steps, predictions and checks of one lesson share.
class SceneRuns {
  public:
    explicit SceneRuns(const Lesson& lesson, scene::RunOptions options = {})
        : lesson_(lesson), options_(std::move(options)) {}
    Result<scene::SceneResult> of(const scene::Scene& scene);
    const Lesson& lesson() const { return lesson_; }
    // Takes a result that somebody else made, such as the app's worker.
    void remember(const scene::Scene& scene, scene::SceneResult result);

  private:
    const Lesson& lesson_;
    scene::RunOptions options_;
    std::map<const scene::Scene*, scene::SceneResult> results_;
};

// Whether a figure is a GPU's or a model's own, which no run tells: gpu.sms@gpu:v100, model.layers@model:llama3_8b.
bool of_no_scene(const scene::FigureName& name);

// Why a prediction of this step, or an exercise's check=, cannot ask for this figure, in a sentence with the nearest name.
// Nothing: it can, as far as can be told before anything runs.
std::optional<Diagnostic> unaskable(const Lesson& lesson, size_t step, const scene::FigureName& name);
std::optional<Diagnostic> unaskable(const Lesson& lesson, const Exercise& exercise, const scene::FigureName& name);

// The prediction's truth at this step of the lesson; runs what has not run yet.
Result<double> truth_of(SceneRuns& runs, size_t step, const Predict& predict);

// Whether it asks for nothing but figures of GPUs' rows, and none of these GPUs: a picture of a run on those gives nothing
// away.
bool asks_of_other_gpus(const Predict& predict, const std::vector<std::string>& on_show);

// The order in which the answers are shown: shuffled, the same for this lesson and learner whenever it is asked for. What
// is written first or in the middle then says nothing.
std::vector<size_t> shown_order(const Lesson& lesson, const Predict& predict, uint64_t learner);
uint64_t learner_of(const std::string& who);  // a number of a learner's own: of the path where their progress is kept

bool agrees(const Predict& predict, const Answer& answer, double truth);
// Index of the one answer that agrees with the truth; -1 when none does, -2 when several do.
int right_answer(const Predict& predict, double truth);

}  // namespace lockstep::lessons
