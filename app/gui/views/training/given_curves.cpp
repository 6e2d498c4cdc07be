#include "app/gui/views/training/given_curves.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "app/gui/scenes.h"

namespace lockstep::gui {
namespace {

enum class Named : uint8_t { this_one, another, none };

// "batch_64_2" is the second run of "batch_64".
bool is_run_of(std::string_view run, std::string_view name) {
    if (!run.starts_with(name)) return false;
    run.remove_prefix(name.size());
    if (run.empty()) return true;
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return run.size() >= 2 && run.size() <= 3 && run[0] == '_' && std::all_of(run.begin() + 1, run.end(), digit);
}

// Whether a figure is of the run: "accuracy@curve:batch_8" is of "batch 8", and not of "batch 80".
Named named_in(const std::string& figure, std::string_view curve) {
    std::string name(curve);
    std::replace(name.begin(), name.end(), ' ', '_');
    Named found = Named::none;
    for (const std::string_view mark : {"@curve:", "@row:"})
        for (size_t at = figure.find(mark); at != std::string::npos; at = figure.find(mark, at + 1)) {
            const size_t begin = at + mark.size();
            size_t end = begin;
            while (end < figure.size() && (std::isalnum(static_cast<unsigned char>(figure[end])) || figure[end] == '_'))
                ++end;
            if (is_run_of(name, std::string_view(figure).substr(begin, end - begin))) return Named::this_one;
            found = Named::another;
        }
    return found;
}

// What names no run is of the first one, or of all.
bool asks(const lessons::Predict& predict, std::string_view curve) {
    const auto about = [&](const scene::Expression& figure) { return named_in(figure.text(), curve) != Named::another; };
    const auto& asked = predict.sketch.asked;
    return about(predict.of) || std::any_of(asked.begin(), asked.end(), [&](const auto& one) { return about(one.value); });
}
bool gives(const lessons::Predict& predict, std::string_view curve) {
    return std::any_of(predict.sketch.known.begin(), predict.sketch.known.end(), [&](const lessons::NamedExpression& known) {
        return named_in(known.value.text(), curve) == Named::this_one;
    });
}

}  // namespace

bool keeps_back(const Session& session, std::string_view curve) {
    const LessonState& state = session.lesson;
    // In other workspaces, too, an open question waits; a run of the learner's own hides nothing.
    if (session.workspace != Workspace::learn && session.learn.reveal_steps < 0) return false;
    if (!state.lesson || state.step < 0 || shows_case_before(state)) return false;
    const auto now = static_cast<size_t>(state.step);
    const scene::Scene* const scene = lessons::scene_at(*state.lesson, now);
    const bool open_now = session.learn.reveal_steps >= 0;
    bool waits = false, answered = false;
    for (size_t s = 0; s < state.lesson->steps.size() && s < state.predictions.size(); ++s) {
        if (lessons::scene_at(*state.lesson, s) != scene) continue;
        const auto& predicts = state.lesson->steps[s].predicts;
        for (size_t i = 0; i < std::min(predicts.size(), state.predictions[s].size()); ++i) {
            const bool asked = asks(predicts[i], curve), locked = state.predictions[s][i].locked;
            if (s <= now && gives(predicts[i], curve)) return false;
            if (s == now && open_now && asked && !locked) return true;
            answered = answered || (asked && locked);
            waits = waits || (s > now && asked && !locked);
        }
    }
    return waits && !answered;
}

bool has_other_loss(const Session& session, std::string_view curve) {
    const scene::Scene* const scene = drawn_scene(session);
    return scene != nullptr && scene->train.starts_with("cheaper distill") && curve == "student taught";
}

std::shared_ptr<const Snapshot> without_kept_back(const Session& session, const std::shared_ptr<const Snapshot>& snapshot) {
    const auto& curves = snapshot->training.curves;
    const auto back = [&](const Curve& curve) { return curve.loss.size() > 1 && keeps_back(session, curve.name); };
    const auto other = [&](const Curve& curve) { return has_other_loss(session, curve.name); };
    if (std::none_of(curves.begin(), curves.end(), [&](const Curve& curve) { return back(curve) || other(curve); }))
        return snapshot;
    auto told = std::make_shared<Snapshot>(*snapshot);
    std::erase_if(told->training.curves, other);
    for (Curve& curve : told->training.curves) {
        if (!back(curve)) continue;
        curve.loss.resize(1);
        curve.accuracy.clear();
        curve.causes.clear();
        curve.to_target = 0;
        curve.kept_back = true;
    }
    return told;
}

}  // namespace lockstep::gui
