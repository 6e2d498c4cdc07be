// The strip over the Training workspace: what is trained (model, device, optimizer, learning rate, batch), each a menu, and
// the run itself: run or pause, one step, back to the first step, cancel. The bar along its bottom is the work under way.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "app/gui/view.h"
#include "core/nn/models/models.h"

namespace lockstep::gui {
namespace {

using MenuKind = TrainingLook::SettingMenu::Kind;

std::string setup_device(const Session& session, const TrainingState& training) {
    return training.setup.on_gpu ? "sim:" + (training.gpu.empty() ? session.gpu : training.gpu) : "host";
}
std::string setup_optimizer(const TrainingSetup& setup) {
    return setup.optimizer.empty() ? std::string(nn::model_named(setup.model).optimizer) : setup.optimizer;
}

class SetupView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const Theme& theme = *ui.theme;
        const auto snapshot = session.snapshot();
        const TrainingSetup& setup = snapshot->training.setup;
        const Rect strip{area.x, area.y, area.w, std::min(area.h, 40.f)};
        ui.rect(strip, theme.panel2, 4);
        ui.frame(strip, theme.line, 1, 5);
        const float y = area.y + 7, right = area.right() - 12;
        const bool running = session.playing && session.grain == Grain::training_step;
        const bool busy = !snapshot->busy.empty();
        float x = area.x + 12;
        if (area.w > 1000)
            x = ui.text(x, y + 18, is_of_others(*snapshot) ? "Next run" : "Training run", {.size = 14, .weight = 600}) + 14;
        const auto button = [&](const char* label, bool primary, bool able) {
            const float width = ui.chip_width(label) + 8;
            if (x + width > right) return false;
            const bool pressed = ui.button({x, y, width, 26}, label, primary, able);
            x += width + 8;
            return pressed;
        };
        if (button(running ? "Pause" : "Run", true, true)) {
            session.grain = Grain::training_step;
            session.playing = !running;
            if (session.playing) session.post(ask::Train{-1});
        }
        if (button("Step", false, !running)) session.post(ask::Train{1});
        if (button("Rewind", false,
                   snapshot->training.step && !is_of_others(*snapshot) && snapshot->training.step->step > 0)) {
            session.playing = false;
            session.post(ask::ShowStep{0});
        }
        if (button("Cancel", false, busy)) {
            session.playing = false;
            session.post(ask::Cancel{});
        }
        x = settings(ui, session, *snapshot, x + 10, area, right);
        if (right - x > 90) {
            const std::string state = busy ? snapshot->busy : beside_program(*snapshot).value_or(aim(setup));
            ui.text(right, y + 18, state, {.size = 13, .color = theme.ink2, .align = Align::right, .width = right - x - 8});
        }
        if (busy && snapshot->progress >= 0)
            ui.rect({strip.x + 2, strip.bottom() - 3,
                     (strip.w - 4) * static_cast<float>(std::clamp(snapshot->progress, 0.0, 1.0)), 2},
                    theme.accent);
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const TrainingSetup& setup = snapshot->training.setup;
        return fmt::format(
            "{}: {} on {}, {}, learning rate {:g}, batch {}{}; {}\n", is_of_others(*snapshot) ? "Next run" : "Training run",
            setup.model, setup_device(session, snapshot->training), setup_optimizer(setup), setup.learning_rate, setup.batch,
            setup.ranks > 1 ? fmt::format(", the step on show on {} ranks too", setup.ranks) : "",
            snapshot->busy.empty() ? beside_program(*snapshot).value_or(aim(setup)) : snapshot->busy);
    }

  private:
    // A chip each; those that there is no room for stand in the menu of a last one. Returns where they end.
    static float settings(Ui& ui, Session& session, const Snapshot& snapshot, float x, const Rect& area, float right) {
        const TrainingSetup& setup = snapshot.training.setup;
        std::vector<TrainingSetting> all = {{MenuKind::model, "model", setup.model},
                                            {MenuKind::device, "on", setup_device(session, snapshot.training)},
                                            {MenuKind::rate, "rate", fmt::format("{:g}", setup.learning_rate)},
                                            {MenuKind::optimizer, "by", setup_optimizer(setup)},
                                            {MenuKind::batch, "batch", std::to_string(setup.batch)}};
        if (snapshot.training.open && trains_on_ranks(setup.model))
            all.push_back({MenuKind::ranks, "ranks", std::to_string(setup.ranks)});
        const bool words = area.w > 1100;
        const auto label_of = [&](const TrainingSetting& one) { return (words ? one.name + "  " : "") + one.value; };
        constexpr std::string_view more = "more";
        float whole = x;
        for (const TrainingSetting& one : all) whole += ui.chip_width(label_of(one)) + 4;
        const float end = whole - 4 <= right ? right : right - ui.chip_width(more) - 4;
        TrainingLook::SettingMenu& menu = session.training.setting_menu;
        for (size_t i = 0; i < all.size(); ++i) {
            const float left = x;
            const std::string label = label_of(all[i]);
            const bool fits = x + ui.chip_width(label) <= end;
            if (!fits && x + ui.chip_width(more) > right) break;
            if (ui.chip(x, area.y + 7, fits ? std::string_view(label) : more)) {
                menu = {.kind = fits ? all[i].kind : MenuKind::more, .x = left, .y = area.y + 38};
                if (!fits) menu.others.assign(all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
            }
            ui.opens_menu(fits ? std::string_view(label) : more);
            if (!fits) break;
        }
        return x;
    }
    // Of a tensor program on show, or of a lesson's training run, the figures below are not this run's.
    static bool is_of_others(const Snapshot& snapshot) {
        return snapshot.tape || (snapshot.source == Source::lesson && snapshot.training.step);
    }
    static std::optional<std::string> beside_program(const Snapshot& snapshot) {
        if (!is_of_others(snapshot) || !snapshot.training.step) return std::nullopt;
        return fmt::format("below: {}{}, until a run begins", snapshot.source == Source::lesson ? "the lesson's " : "",
                           snapshot.training.step->model);
    }
    static std::string aim(const TrainingSetup& setup) {
        const nn::ModelRow& row = nn::model_named(setup.model);
        return fmt::format("{}; aims at {}", row.summary, row.aim);
    }
};

}  // namespace

std::unique_ptr<View> make_setup_view() {
    return std::make_unique<SetupView>();
}

}  // namespace lockstep::gui
