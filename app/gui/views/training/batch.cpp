// D13, the batch: the first images with prediction and confidence, and under them the histogram of one parameter's gradient
// (the focused one, else the first). Of models that see no labelled images: what they have to show (exhibit_data.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/histogram.h"
#include "app/gui/views/training/exhibit_picture.h"
#include "app/gui/views/training/training_data.h"

namespace lockstep::gui {
namespace {

const nn::GraphNode* parameter_of(const nn::StepRecord& step, const Focus& focus) {
    const nn::GraphNode* first = nullptr;
    for (const nn::GraphNode& node : step.nodes)
        if (node.kind == nn::GraphNode::Kind::parameter && node.gradient) {
            if (node.id == focus.op) return &node;
            if (!first || (first->shape.size() < 2 && node.shape.size() > 1)) first = &node;
        }
    return first;
}

constexpr std::string_view before_headline = "Before its first step: what will it make of this?";
constexpr std::string_view hidden_exhibit =
    "This is its first step, before it has learned anything. What it learned waits for your answer.";

constexpr float headline_from = 240,
                least_headline = 100;  // heights of a lesson's picture with room for one, and a small one

constexpr std::string_view unknown_exhibit = "What the step shows waits for your answer.";

// The run's first step in place of its last.
std::shared_ptr<const Snapshot> before_learning(const std::shared_ptr<const Snapshot>& snapshot) {
    if (!snapshot->training.first_step || snapshot->training.first_step == snapshot->training.step) return snapshot;
    auto before = std::make_shared<Snapshot>(*snapshot);
    before->training.step = before->training.first_step;
    before->training.written.clear();
    return before;
}

// A tensor program has numbers, and no examples.
std::string nothing_text(const Snapshot& snapshot) {
    return snapshot.tape && snapshot.training.step ? snapshot.training.step->model + " reads no batch of examples."
                                                   : std::string("No batch has run yet.");
}

class BatchView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const bool hidden = session.learn.reveal_steps >= 0;  // how the run ended may be what is asked
        const auto newest = session.snapshot(), snapshot = hidden ? before_learning(newest) : newest;
        const auto step = snapshot->training.step;
        if (step) refresh(step, focus);
        if (step && exhibit_.kind != Exhibit::Kind::none && exhibit_.kind != Exhibit::Kind::pictures) {
            Rect body = ui.panel(area, {.title = exhibit_.title,
                                        .right = !hidden              ? exhibit_.right
                                                 : snapshot == newest ? std::string()
                                                                      : std::string("before learning"),
                                        .badge = exhibit_.derived ? Provenance::derived : Provenance::executed,
                                        .caption = !hidden              ? exhibit_.caption
                                                   : snapshot == newest ? std::string(unknown_exhibit)
                                                                        : std::string(hidden_exhibit)});
            if (hidden && snapshot == newest) {
                ui.dashed({body.x, body.y + 4, body.w, 42}, ui.theme->ink3, 3, 3);
                return ui.text(body.x + body.w / 2, body.y + 30, "Hidden until you lock an answer.",
                               {.size = 13, .color = ui.theme->ink2, .align = Align::center}),
                       void();
            }
            if (const std::string head = hidden ? std::string(before_headline) : exhibit_headline(*snapshot, exhibit_);
                !head.empty() && body.h > least_headline && session.workspace == Workspace::learn) {
                const bool low = body.h <= headline_from;
                ui.text(body.x, body.y + (low ? 14.0f : 20.0f), head,
                        {.size = low ? 16.0f : 20.0f, .weight = 700, .width = body.w});
                const float taken = low ? 24 : 34;
                body = {body.x, body.y + taken, body.w, body.h - taken};
            }
            const int before = layer_;
            draw_exhibit(ui, *snapshot, exhibit_, layer_, body);
            if (layer_ != before) seen_ = nullptr;
            return;
        }
        if (!step || !step->images || step->labels.empty()) {
            const std::string caption = nothing_text(*snapshot);
            const Rect body =
                ui.panel(area, {.title = "Batch and gradient", .badge = Provenance::executed, .caption = caption});
            return ui.say_nothing_yet(body, caption, "A batch appears with the first step of a training run.");
        }
        PanelText words{.title = "Batch and gradient", .badge = Provenance::executed, .caption = caption_};
        const Rect body = ui.panel_body(area, words);
        const float pitch = 64, row = 82;
        const int columns = std::clamp(static_cast<int>((body.w + 8) / pitch), 1, 8);
        const bool histogram_fits = body.h > 82 + 92;
        const int rows_fit = std::max(1, static_cast<int>((body.h - (histogram_fits ? 92 : 0)) / row));
        const int most = std::min<int>(16, static_cast<int>(step->labels.size()));
        const int rows = std::min((most + columns - 1) / columns, std::min(rows_fit, 2)),
                  shown = std::min(most, rows * columns);
        const std::string right = fmt::format("first {} of {} · prediction, confidence", shown, step->labels.size());
        words.right = right;
        ui.panel(area, words);
        for (int i = 0; i < shown; ++i)
            image(ui, *step, i,
                  {body.x + pitch * static_cast<float>(i % columns), body.y + 2 + row * static_cast<float>(i / columns), 56,
                   56});
        const float top = body.y + row * static_cast<float>(rows) + 2;
        if (histogram_fits && parameter_)
            draw_histogram(ui, histogram_, "gradient of " + parameter_->name, session.learn.reveal_steps >= 0,
                           {body.x, top, body.w, body.bottom() - top});
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const bool hidden = session.learn.reveal_steps >= 0;
        const auto snapshot = hidden ? before_learning(session.snapshot()) : session.snapshot();
        const auto step = snapshot->training.step;
        if (!step) return "Batch and gradient: no batch has run yet.\n";
        BatchView fresh;
        fresh.layer_ = layer_;
        fresh.refresh(step, focus);
        if (fresh.exhibit_.kind != Exhibit::Kind::none && fresh.exhibit_.kind != Exhibit::Kind::pictures) {
            if (hidden) return fmt::format("{}\n  {}\n", fresh.exhibit_.title, hidden_exhibit);
            std::string text =
                fmt::format("{} ({}), {}\n  {}\n", fresh.exhibit_.title, fresh.exhibit_.derived ? "derived" : "executed",
                            fresh.exhibit_.right, fresh.exhibit_.caption);
            for (const std::string& more : {exhibit_headline(*snapshot, fresh.exhibit_), written_text(*snapshot)})
                if (!more.empty()) text += "  " + more + "\n";
            return text;
        }
        if (step->labels.empty()) return "Batch and gradient: " + nothing_text(*snapshot) + "\n";
        std::string text = fmt::format("Batch and gradient (executed), step {}\n  ", step->step);
        for (size_t i = 0; i < std::min<size_t>(16, step->labels.size()); ++i)
            text += step->predictions[i] == step->labels[i]
                        ? fmt::format("{} ({:.0f} %)  ", step->predictions[i], 100 * step->confidence[i])
                        : fmt::format("{} not {}  ", step->predictions[i], step->labels[i]);
        return text + "\n  " + fresh.caption_ + "\n";
    }

  private:
    std::shared_ptr<const nn::StepRecord> seen_;  // kept: no other one gets its address
    const nn::GraphNode* parameter_ = nullptr;
    Histogram histogram_;
    std::string caption_;
    Exhibit exhibit_;
    int layer_ = 0;

    void refresh(const std::shared_ptr<const nn::StepRecord>& shown, const Focus& focus) {
        const nn::StepRecord& step = *shown;
        const nn::GraphNode* parameter = parameter_of(step, focus);
        if (shown == seen_ && parameter == parameter_) return;
        seen_ = shown;
        parameter_ = parameter;
        exhibit_ = exhibit_of(step, layer_);
        size_t wrong = 0, first = step.labels.size();
        if (step.predictions.size() != step.labels.size()) return;
        for (size_t i = step.labels.size(); i-- > 0;)
            if (step.predictions[i] != step.labels[i]) {
                ++wrong;
                first = i;
            }
        const size_t images = step.labels.size();
        if (wrong == 0)
            caption_ = images == 1 ? fmt::format("The one image is read right at step {}.", step.step)
                                   : fmt::format("All {} images are read right at step {}.", images, step.step);
        else if (images == 1)
            caption_ = fmt::format("The one image is wrong at step {}: a {} is read as {}.", step.step, step.labels[first],
                                   step.predictions[first]);
        else
            caption_ = fmt::format("{} of {} images are wrong at step {}; here a {} is read as {}.", wrong, images,
                                   step.step, step.labels[first], step.predictions[first]);
        if (!parameter) return;
        histogram_ = histogram_of(*parameter->gradient, 60);
        const double zeros =
            100.0 * static_cast<double>(histogram_.zeros) / static_cast<double>(std::max<int64_t>(1, histogram_.total));
        caption_ += fmt::format(" Of the {} gradient, {:.0f} % is exactly zero.", parameter->name, zeros);
    }

    static void image(Ui& ui, const nn::StepRecord& step, int i, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int h = step.image_rows, w = step.image_columns;
        const auto n = static_cast<size_t>(i);
        if (h > 0 && w > 0)
            ui.picture(fmt::format("batch{}", i), static_cast<uint64_t>(step.step) + 1, w, h, r,
                       [&](std::span<Color> pixels) {
                           const size_t base = n * static_cast<size_t>(h * w);
                           for (size_t p = 0; p < pixels.size() && base + p < step.images->size(); ++p)
                               pixels[p] = grey_image((*step.images)[base + p]);
                       });
        const bool wrong = step.predictions[n] != step.labels[n];
        if (wrong) {
            ui.frame({r.x - 3, r.y - 3, r.w + 6, r.h + 6}, data::vermillion, 2);
            ui.frame({r.x - 1, r.y - 1, r.w + 2, r.h + 2}, data::white, 1);
        }
        ui.text(r.x, r.bottom() + 16, std::to_string(step.predictions[n]),
                {.size = 14, .color = wrong ? theme.wrong : theme.ink, .weight = 600});
        ui.text(r.right(), r.bottom() + 16,
                wrong ? fmt::format("not {}", step.labels[n]) : fmt::format("{:.0f} %", 100 * step.confidence[n]),
                {.size = 12, .color = wrong ? theme.wrong : theme.ink2, .align = Align::right, .weight = wrong ? 600 : 400});
    }
};

}  // namespace

std::unique_ptr<View> make_batch_view() {
    return std::make_unique<BatchView>();
}

}  // namespace lockstep::gui
