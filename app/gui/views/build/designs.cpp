// This design and the one before on one axis of time: what the schedulers issue and what memory moves. A drag over the strip
// of this design makes the die show that moment. A design with gold has the recap beside it (recap.cpp): a chip chooses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/recap.h"
#include "app/gui/widgets/axis.h"

namespace lockstep::gui {
namespace {

constexpr float label_width = 112;

struct Strip {
    const BuiltDesign* design;
    bool now;
    Rect issue, memory;
};

void draw_series(Ui& ui, const Rect& box, const std::vector<float>& series, Color color) {
    if (series.empty() || box.w < 1) return;
    const auto columns = static_cast<size_t>(std::max(1.0f, std::min(box.w, static_cast<float>(series.size()))));
    for (size_t c = 0; c < columns; ++c) {
        const size_t from = c * series.size() / columns, to = std::max(from + 1, (c + 1) * series.size() / columns);
        float sum = 0;
        for (size_t i = from; i < to; ++i) sum += series[i];
        const float share = sum / static_cast<float>(to - from);
        const float x = box.x + box.w * static_cast<float>(c) / static_cast<float>(columns);
        const float next = box.x + box.w * static_cast<float>(c + 1) / static_cast<float>(columns);
        if (share > 0.002f) ui.rect({x, box.bottom() - box.h * share, next - x, box.h * share}, color);
    }
}

class DesignsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        const BuiltDesign* const earlier = earlier_design(session, *snapshot);
        const bool any = (shown != nullptr && shown->ran()) || earlier != nullptr;
        const std::optional<Recap> recap = recap_of(session, *snapshot);
        if (recap && session.build.shows_recap) {
            const Rect body = ui.panel(area, {.title = "What made it gold",
                                              .right = "each change put back alone, by a run",
                                              .badge = Provenance::simulated,
                                              .caption = recap_sentence(*recap)});
            ui.push_scope("designs");
            choose(ui, session, body, true);
            draw_recap(ui, *recap, {body.x, body.y, body.w, body.h});
            return ui.pop_scope();
        }
        const std::string sentence =
            any ? "Green: issue slots used. Blue: the memory's bandwidth used. Drag: the die shows that moment." : "";
        const Rect body = ui.panel(area, {.title = "Two designs",
                                          .right = "schedulers and memory, one axis of time",
                                          .badge = Provenance::simulated,
                                          .caption = sentence});
        if (!any) return ui.say_nothing_yet(body, snapshot->busy.empty() ? "No design has run yet." : snapshot->busy);
        ui.push_scope("designs");
        if (recap) choose(ui, session, body, false);
        double most = 0;
        for (const BuiltDesign* design : {shown, earlier})
            if (design != nullptr && design->ran()) most = std::max(most, design->time_us);
        const Rect plot{body.x + label_width, body.y, body.w - label_width - 8, body.h - 22};
        const float half = earlier != nullptr ? plot.h / 2 : std::min(plot.h, 140.0f);
        if (shown != nullptr && shown->ran())
            draw_strip(ui, session, *shown, true, most, {plot.x, plot.y, plot.w, half - 5});
        if (earlier != nullptr)
            draw_strip(ui, session, *earlier, false, most, {plot.x, plot.y + half + 3, plot.w, half - 5});
        if (shown != nullptr && shown->ran() && earlier != nullptr)
            gain(ui, *session.build.task(), *shown, *earlier, most, plot, half);
        axis(ui, most, plot);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        const BuiltDesign* const earlier = earlier_design(session, *snapshot);
        std::string text = "Two designs on one axis of time (simulated)\n";
        for (const BuiltDesign* design : {shown, earlier})
            if (design != nullptr && design->ran() && design->kernels.size() > 1) {
                text += fmt::format("  kernels of design {}:", design->number);
                for (const KernelShare& kernel : design->kernels)
                    text += fmt::format(" {} {},", kernel.label, time_text(kernel.time_us));
                text.back() = '\n';
            }
        for (const BuiltDesign* design : {shown, earlier})
            if (design != nullptr && design->ran())
                text += fmt::format("  design {}: {}, schedulers issue in {:.0f} % of slots, memory busy {:.0f} %\n",
                                    design->number, time_text(design->time_us), 100 * design->use.issue,
                                    100 * design->use.memory);
        if (shown != nullptr && shown->ran() && earlier != nullptr) text += "  " + gain_words(*shown, *earlier) + "\n";
        if (const std::optional<Recap> recap = recap_of(session, *snapshot)) text += recap_text(*recap);
        return text;
    }

  private:
    // In the room that the axis leaves.
    static void choose(Ui& ui, Session& session, const Rect& body, bool recap) {
        const std::string_view other = recap ? "by time" : "recap";
        float x = body.x;
        if (ui.chip(x, body.bottom() - 24, other)) session.build.shows_recap = !recap;
    }

    static std::string gain_words(const BuiltDesign& now, const BuiltDesign& before) {
        const double factor = before.time_us / now.time_us;
        if (now.sampled > 0) return factor > 1 ? "faster, by a sample" : "slower, by a sample";
        if (std::fabs(factor - 1) < 0.005) return "as fast as before";
        return factor > 1 ? fmt::format("{:.3g}\xC3\x97 faster", factor) : fmt::format("{:.3g}\xC3\x97 slower", 1 / factor);
    }

    static void draw_strip(Ui& ui, Session& session, const BuiltDesign& design, bool now, double most, const Rect& box) {
        const Theme& theme = *ui.theme;
        const float left = box.x - label_width, issue_h = std::max(12.0f, (box.h - 4) * 0.42f);
        const float w = box.w * static_cast<float>(design.time_us / most);
        const Rect issue{box.x, box.y, w, issue_h}, memory{box.x, box.y + issue_h + 4, w, box.h - issue_h - 4};
        const bool named = box.h >= 62;
        if (named)
            ui.text(left, issue.y + 13, fmt::format("design {}", design.number),
                    {.size = 13, .weight = now ? 700 : 400, .width = label_width - 8});
        const auto label = [&](const Rect& row, const char* word, double share) {
            const float y = named && &row == &issue ? row.y + 29 : row.y + std::min(row.h / 2 + 5, 18.0f);
            ui.text(left, y, named ? word : fmt::format("{} {}", design.number, word),
                    {.size = 12, .color = theme.ink2, .weight = now ? 600 : 400});
            ui.text(box.x - 8, y, fmt::format("{:.0f} %", 100 * share), {.size = 12, .align = Align::right, .weight = 600});
        };
        label(issue, "issues", design.use.issue);
        label(memory, "memory", design.use.memory);
        ui.rect({box.x, issue.y, box.w, issue.h}, theme.code);
        ui.rect({box.x, memory.y, box.w, memory.h}, theme.code);
        const float known = design.sampled > 0 ? static_cast<float>(design.sampled) : 1;
        draw_series(ui, {issue.x, issue.y, issue.w * known, issue.h}, design.issue,
                    now ? data::green : faded(data::green, 0.7f));
        draw_series(ui, {memory.x, memory.y, memory.w * known, memory.h}, design.memory,
                    now ? data::blue : faded(data::blue, 0.7f));
        ui.rect({box.x + w - 1, box.y, 2, box.h}, theme.ink);
        double before = 0;  // where one kernel of a training step ends, the next begins
        for (const KernelShare& kernel : design.kernels) {
            const float x = box.x + w * static_cast<float>(before / design.time_us);
            const float length = w * static_cast<float>(kernel.time_us / design.time_us);
            if (before > 0) ui.rect({x, box.y, 1, box.h}, theme.panel);
            if (ui.hovered({x, box.y, length, box.h}) && design.kernels.size() > 1)
                ui.tooltip(fmt::format("{}: {} (simulated)", kernel.label, time_text(kernel.time_us)));
            before += kernel.time_us;
        }
        if (!now) return;
        const Drag drag = ui.drag("moment", {box.x, box.y, box.w, box.h});
        if (drag.active)
            session.build.at = drag.at.x < box.x || drag.at.x > box.x + w
                                   ? -1
                                   : static_cast<double>((drag.at.x - box.x) / std::max(1.0f, w));
        if (session.build.at >= 0)
            ui.cursor_line(box.x + w * static_cast<float>(session.build.at), box.y - 2, box.bottom() + 2);
    }

    // In the room that the faster one leaves.
    static void gain(Ui& ui, const BuildTask& task, const BuiltDesign& now, const BuiltDesign& before, double most,
                     const Rect& plot, float half) {
        const Theme& theme = *ui.theme;
        const BuiltDesign& faster = now.time_us <= before.time_us ? now : before;
        const float x = plot.x + plot.w * static_cast<float>(faster.time_us / most);
        const float top = &faster == &now ? plot.y : plot.y + half + 3;
        const std::string words = gain_words(now, before);
        const TextStyle style{
            .size = 18, .color = &faster == &now ? theme.right : theme.wrong, .align = Align::center, .weight = 700};
        const float room = plot.right() - x, width = ui.text_width(words, style);
        if (room < width + 24) return;
        ui.text(x + room / 2, top + 19, words, style);
        if (room < 80) return;
        ui.line({x + 6, top + 28}, {plot.right(), top + 28}, style.color, 2);
        ui.arrow_head({x + 4, top + 28}, Way::left, style.color, 6);
        const std::string changed = change_words(task, before.figures, now.figures);
        const TextStyle small{.size = 12, .color = theme.ink2, .align = Align::center};
        if (half >= 62 && ui.text_width(changed, small) < room - 16) ui.text(x + room / 2, top + 46, changed, small);
    }

    static void axis(Ui& ui, double most, const Rect& plot) {
        const bool milli = most >= 1000;
        const double unit = milli ? 1000 : 1, step = step_of_time(most / unit);
        for (double t = 0; t * unit <= most * 1.0001; t += step) {
            const float x = plot.x + plot.w * static_cast<float>(t * unit / most);
            if (x > plot.right() - 44) break;
            ui.rect({x, plot.bottom(), 1, 4}, ui.theme->ink3);
            ui.text(x, plot.bottom() + 17, fmt::format("{:g}", t),
                    {.size = 12, .color = ui.theme->ink2, .align = t > 0 ? Align::center : Align::left, .mono = true});
        }
        ui.text(plot.right(), plot.bottom() + 17, milli ? "ms" : "\xC2\xB5s",
                {.size = 12, .color = ui.theme->ink2, .align = Align::right});
    }
};

}  // namespace

std::unique_ptr<View> make_designs_view() {
    return std::make_unique<DesignsView>();
}

}  // namespace lockstep::gui
