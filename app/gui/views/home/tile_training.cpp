// A tile with the training run: its loss as it falls, and what it has learned by now, digits with how they are read or the
// text that a language model writes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/home/home.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {

void draw_losses(Ui& ui, const Curve& curve, const Rect& plot) {
    const Theme& t = *ui.theme;
    const auto [least, most] = std::minmax_element(curve.loss.begin(), curve.loss.end());
    if (!std::isfinite(*least) || !std::isfinite(*most)) return;
    double low = std::min(0.0, *least), high = *most > low ? *most : low + 1;
    const double step = rounded((high - low) / 3, one_two_five);
    low = std::floor(low / step) * step;
    high = std::ceil(high / step) * step;
    const auto y_of = [&](double loss) { return plot.bottom() - plot.h * static_cast<float>((loss - low) / (high - low)); };
    for (double mark = low; mark <= high + step / 2; mark += step) {
        ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, t.grid);
        ui.text(plot.x - 8, y_of(mark) + 4, fmt::format("{:g}", std::round(mark * 1e6) / 1e6),
                {.size = 12, .color = t.quiet, .align = Align::right});
    }
    const auto steps = static_cast<int64_t>(curve.loss.size()), all = std::max({steps, curve.total_steps, int64_t{2}});
    std::vector<Point> line;
    const int64_t stride = std::max<int64_t>(1, steps / 200);
    for (int64_t i = 0; i < steps; i += i + stride < steps || i + 1 == steps ? stride : steps - 1 - i)
        line.push_back({plot.x + plot.w * static_cast<float>(i) / static_cast<float>(all - 1),
                        y_of(curve.loss[static_cast<size_t>(i)])});
    ui.polyline(line, t.ink, 2);
    if (!line.empty()) ui.circle(line.back(), 4.5f, t.accent), ui.ring(line.back(), 4.5f, t.ink, 1.5f);
    ui.text(plot.x, plot.bottom() + 17, "0", {.size = 12, .color = t.quiet, .align = Align::center});
    ui.text(plot.right(), plot.bottom() + 17, fmt::format("step {}", with_commas(all - 1)),
            {.size = 12, .color = t.quiet, .align = Align::right});
}

void draw_digits(Ui& ui, const nn::StepRecord& step, const Rect& area) {
    const Theme& t = *ui.theme;
    const int h = step.image_rows, w = step.image_columns;
    constexpr float size = 34, pitch_x = 42, pitch_y = 56;
    const int columns = std::max(1, static_cast<int>((area.w + 8) / pitch_x)),
              rows = std::max(1, static_cast<int>(area.h / pitch_y));
    const int count = std::min({columns * rows, static_cast<int>(step.labels.size()), 64});
    for (int i = 0; i < count; ++i) {
        const auto n = static_cast<size_t>(i);
        const Rect box{area.x + pitch_x * static_cast<float>(i % columns),
                       area.y + pitch_y * static_cast<float>(i / columns), size, size};
        ui.picture(fmt::format("home{}", i), static_cast<uint64_t>(step.step) + 1, w, h, box, [&](std::span<Color> pixels) {
            const size_t base = n * static_cast<size_t>(h * w);
            for (size_t p = 0; p < pixels.size() && base + p < step.images->size(); ++p)
                pixels[p] = grey_image((*step.images)[base + p]);
        });
        const bool wrong = step.predictions[n] != step.labels[n];
        if (wrong) ui.frame({box.x - 2, box.y - 2, box.w + 4, box.h + 4}, data::vermillion, 2);
        ui.text(box.x + size / 2, box.bottom() + 15, fmt::format("{}{}", step.predictions[n], wrong ? "?" : ""),
                {.size = 12, .color = wrong ? t.wrong : t.ink, .align = Align::center, .weight = 600});
    }
}

void draw_texts(Ui& ui, const TrainingState& training, const Rect& area) {
    const Theme& t = *ui.theme;
    const auto& written = training.written;
    const size_t shown = std::min<size_t>(3, written.size());
    for (size_t i = 0; i < shown; ++i) {
        // The first one, then the newest.
        const Written& one = i == 0 ? written.front() : written[written.size() - shown + i];
        const float y = area.y + 12 + 44 * static_cast<float>(i);
        std::string text = one.text.substr(0, 60);
        std::replace(text.begin(), text.end(), '\n', ' ');
        ui.text(area.x, y, fmt::format("after step {}", with_commas(one.step)), {.size = 12, .color = t.quiet});
        ui.text(area.x, y + 19, text, {.size = 13, .color = i + 1 == shown ? t.ink : t.ink2, .mono = true, .width = area.w});
    }
}

}  // namespace

void draw_training_tile(const HomeFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const TrainingState& training = training_run_of(frame.snapshot);
    const Curve* curve = nullptr;
    for (const Curve& one : training.curves)
        if (!one.loss.empty() && (curve == nullptr || one.running)) curve = &one;
    if (curve == nullptr || !training.step) {
        ui.text(area.x + 16, area.y + 20, "A network", {.size = 13, .weight = 600});
        ui.text(area.x + area.w / 2, area.y + area.h / 2,
                frame.snapshot.busy.empty() ? "Press, and its first steps run." : "Its first step comes next ...",
                {.size = 13, .color = t.ink2, .align = Align::center, .width = area.w - 32});
        return;
    }
    const nn::StepRecord& step = *training.step;
    const float x =
        ui.text(area.x + 16, area.y + 20, fmt::format("step {}", with_commas(static_cast<int64_t>(curve->loss.size()) - 1)),
                {.size = 13, .weight = 600});
    ui.text(x + 14, area.y + 20, fmt::format("loss {:.3g}", curve->loss.back()), {.size = 13, .color = t.ink2});
    const float half = std::max(120.0f, area.w * 0.38f);
    draw_losses(ui, *curve, {area.x + 52, area.y + 36, half - 40, area.h - 64});
    const Rect beside{area.x + half + 36, area.y + 40, area.right() - 16 - area.x - half - 36, area.h - 52};
    if (beside.w < 60) return;
    if (!training.written.empty())
        draw_texts(ui, training, beside);
    else if (step.images && step.image_rows > 0 && step.predictions.size() == step.labels.size() && !step.labels.empty()) {
        if (step.step + 1 != static_cast<int64_t>(curve->loss.size()))  // it was gone back to
            ui.text(beside.x, area.y + 20, fmt::format("as read at step {}", with_commas(step.step)),
                    {.size = 12, .color = t.quiet, .width = beside.w});
        draw_digits(ui, step, beside);
    }
}

}  // namespace lockstep::gui
