// From possible to selected: the warps of one scheduler as five bars, each a part of the one above: what it can hold, what
// fits at once, how many were active, how many of those were eligible in a cycle, and which one was selected. Between two
// bars stands what is lost, and why; the last bar comes again in a lens, where 1 is a slot that is never empty. Beside a
// second run (compare=) its bars are thin.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/timeline/compare_facts.h"
#include "app/gui/views/timeline/state_code.h"

namespace lockstep::gui {
namespace {

constexpr std::array<std::string_view, 5> stage_names = {"can hold", "fit at once", "active", "eligible", "selected"};
constexpr std::array<std::string_view, 5> stage_words = {"the device", "theoretical", "on average", "ready, a cycle",
                                                         "issued, a cycle"};

struct Share {
    StallReason state = StallReason::selected;
    double warps = 0;
};
struct Funnel {
    std::array<double, 5> warps{};  // of a scheduler, by stage
    std::vector<Share> waits;       // of the active ones that are not eligible, the most first
    double not_selected = 0;        // eligible and not picked
    std::string limiters;           // "shared memory"
    bool few_blocks = false;        // the launch has no more than fit at once
    bool known() const {
        return std::all_of(warps.begin(), warps.end(), [](double v) { return std::isfinite(v); }) && warps[0] > 0;
    }
};

Funnel funnel_of(const model::KernelRun& run) {
    Funnel found;
    const auto of = [&](std::string_view name) {
        for (const model::Metric& one : run.result.metrics)
            if (one.name == name) return one.value;
        return std::nan("");
    };
    const double most = run.gpu.warps_per_sm.value / static_cast<double>(std::max<uint32_t>(1, run.gpu.sub_cores.value));
    found.warps = {most, most * of("theoretical_occupancy") / 100, of("active_warps"), of("eligible_warps"),
                   of("issued_per_scheduler")};
    for (size_t s = 0; s < state_count; ++s) {
        const auto reason = static_cast<StallReason>(s);
        const double share = of("stall_" + std::string(row_of(reason).name)) / 100 * found.warps[2];
        if (!(share > 0)) continue;
        if (reason == StallReason::not_selected)
            found.not_selected = share;
        else if (reason != StallReason::selected)
            found.waits.push_back({reason, share});
    }
    std::sort(found.waits.begin(), found.waits.end(), [](const Share& a, const Share& b) { return a.warps > b.warps; });
    found.limiters = limiter_names(limiter_rows(run));
    found.few_blocks = run.config.grid.count() < uint64_t{run.result.occupancy.blocks} * run.gpu.sms.value;
    return found;
}

std::string count_text(double value) {
    if (value == std::floor(value)) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

// What lies between a stage and the one before it.
std::string loss_of(const Funnel& it, size_t stage) {
    const double lost = it.warps[stage - 1] - it.warps[stage];
    if (stage == 1)
        return lost > 0.005 ? fmt::format("{} fewer: {} allow{} no more", count_text(lost), it.limiters,
                                          it.limiters.find(" and ") == std::string::npos ? "s" : "")
                            : "as many as it can hold";
    if (stage == 2)
        return lost > 0.005 ? fmt::format("{} fewer on average: {}", count_text(lost),
                                          it.few_blocks ? "the launch has no more blocks" : "blocks begin and end")
                            : "all of the time";
    if (stage == 3)
        return it.waits.empty()
                   ? "none waits"
                   : fmt::format("{} wait, {} of them: {}", count_text(lost),
                                 count_text(std::min(lost, it.waits.front().warps)), row_of(it.waits.front().state).label);
    return fmt::format("{} ready and not picked: one slot a cycle", count_text(std::max(0.0, lost)));
}

std::string headline(const Funnel& it) {
    return fmt::format("Of {} warps that fit, {} {} ready in a cycle; {:.0f} of 100 slots are used", count_text(it.warps[1]),
                       count_text(it.warps[3]), it.warps[3] == 1 ? "is" : "are", 100 * it.warps[4]);
}

class FunnelView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::shared_ptr<const model::KernelRun>& run = snapshot->kernel.run;
        constexpr std::string_view title = "From possible to selected";
        if (!run || !run->program) {
            const Rect body = ui.panel(area, {.title = title});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "The warps of one scheduler are drawn here.");
        }
        const Funnel own = funnel_of(*run);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::shared_ptr<const model::KernelRun>& beside = snapshot->kernel.other;
        const bool both = beside && beside->program;
        const Funnel other = both ? funnel_of(*beside) : Funnel();
        const RunNames names = both ? names_of(*beside, *run) : RunNames();
        const Rect body = ui.panel(area, {.title = title,
                                          .right = fmt::format("a scheduler of {}", run->gpu.title),
                                          .badge = Provenance::simulated,
                                          .caption = caption(*run, own, names, both, hidden)});
        if (hidden || !own.known()) {
            ui.dashed({body.x, body.y, body.w, std::min(60.0f, body.h)}, ui.theme->ink3);
            return ui.text(body.x + body.w / 2, body.y + std::min(60.0f, body.h) / 2 + 5,
                           hidden ? "Hidden until you lock an answer." : "This run has no metrics.",
                           {.size = 13, .color = ui.theme->ink2, .align = Align::center}),
                   void();
        }
        ui.push_scope("funnel");
        ui.text(body.x, body.y + 22, headline(own), {.size = 20, .weight = 700, .width = body.w});
        const Rect plot{body.x, body.y + 40, body.w, body.h - 40 - 26};
        draw_stages(ui, own, both && other.known() ? &other : nullptr, plot);
        draw_legend(ui, own, both, names, {body.x, body.bottom() - 20, body.w, 20});
        ui.pop_scope();
    }

    float needs(Ui&, Session&, Focus&, const Rect&) override { return 430; }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program)
            return "From possible to selected: no kernel has run yet.\n";
        if (session.learn.reveal_steps >= 0)
            return "From possible to selected (simulated): hidden until you lock an answer.\n";
        const Funnel own = funnel_of(*snapshot->kernel.run);
        std::string text = "From possible to selected (simulated), warps of one scheduler\n";
        for (size_t i = 0; i < own.warps.size(); ++i)
            text +=
                fmt::format("  {}: {}{}\n", stage_names[i], count_text(own.warps[i]), i == 0 ? "" : "; " + loss_of(own, i));
        if (snapshot->kernel.other && snapshot->kernel.other->program) {
            const Funnel other = funnel_of(*snapshot->kernel.other);
            text += "  beside it:";
            for (const double warps : other.warps) text += " " + count_text(warps);
            text += "\n";
        }
        return text + "  " + headline(own) + ".\n";
    }

  private:
    static std::string caption(const model::KernelRun&, const Funnel& own, const RunNames& names, bool both, bool hidden) {
        if (hidden || !own.known()) return "What was active, eligible and selected stays hidden until you lock an answer.";
        const std::string lines =
            "Averages over the schedulers, while they have a warp; each bar is a part of the one above.";
        return both ? fmt::format("{} Thick: {}. Thin: {}.", lines, names.b, names.a) : lines;
    }

    static void draw_stages(Ui& ui, const Funnel& own, const Funnel* other, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float names = std::clamp(r.w * 0.17f, 96.0f, 150.0f), values = 66;
        const Rect plot{r.x + names, r.y, r.w - names - values, r.h};
        // Five bars and the lens at one pitch, each with its loss in the gap above.
        constexpr float words = 20;
        const float thin = other ? 7.0f : 0.0f,
                    bar = std::clamp(std::min(r.h / 6 * 0.46f, (r.h - 16 - 5 * words) / 6 - thin), 10.0f, 36.0f),
                    pitch = (r.h - bar - thin - 16) / 5;
        const auto x_of = [&](double warps) { return plot.x + plot.w * static_cast<float>(warps / own.warps[0]); };
        float before = 0;  // where the bar above ends
        for (size_t i = 0; i < own.warps.size(); ++i) {
            const float y = r.y + pitch * static_cast<float>(i), end = x_of(own.warps[i]);
            const Rect box{plot.x, y, std::max(2.0f, end - plot.x), bar};
            ui.rect({plot.x, y, plot.w, bar}, theme.panel2);
            draw_bar(ui, own, i, box);
            if (other) {
                const float to = x_of(std::min(other->warps[i], own.warps[0]));
                ui.rect({plot.x, y + bar + 2, std::max(2.0f, to - plot.x), thin - 2}, theme.ink2);
            }
            ui.text(plot.x - 12, y + bar / 2 + 1, stage_names[i], {.size = 14, .align = Align::right, .weight = 600});
            if (bar >= 24)
                ui.text(plot.x - 12, y + bar / 2 + 17, stage_words[i],
                        {.size = 12, .color = theme.ink2, .align = Align::right, .width = names - 12});
            ui.text(r.right(), y + bar / 2 + 5, count_text(own.warps[i]),
                    {.size = 18, .align = Align::right, .weight = 700});
            if (other)
                ui.text(r.right(), y + bar / 2 + 20, count_text(other->warps[i]),
                        {.size = 12, .color = theme.ink2, .align = Align::right});
            if (i > 0) {
                // From the end of the bar above down to the end of this one.
                const float top = y - pitch + bar + thin;
                const Point edge[] = {{before, top + 1}, {before, y - 6}, {end, y - 6}, {end, y}};
                ui.polyline(edge, theme.ink3, 1);
                const std::string says = loss_of(own, i);
                const float w = ui.text_width(says, {.size = 13});
                // Over the way between them where that is long enough, else beside the line down.
                const float x = before - end >= w + 12          ? (before + end) / 2 - w / 2
                                : before + 8 + w < plot.right() ? before + 8
                                                                : before - w - 8;
                ui.text(x, y - 11, says, {.size = 13, .color = theme.ink2, .width = plot.right() - x});
            }
            before = end;
        }
        // The lens: a slot a cycle.
        const float y = r.y + 5 * pitch;
        const Rect lens{plot.x, y, plot.w, bar};
        ui.rect(lens, theme.panel2);
        ui.frame(lens, theme.ink3, 1.2f);
        const float used = plot.w * static_cast<float>(std::clamp(own.warps[4], 0.0, 1.0));
        ui.rect({lens.x, lens.y, used, lens.h}, data::green);
        if (other) {
            const float to = plot.w * static_cast<float>(std::clamp(other->warps[4], 0.0, 1.0));
            ui.rect({lens.x, lens.bottom() + 2, std::max(2.0f, to), thin - 2}, theme.ink2);
        }
        const Point fan[] = {{before, y - pitch + bar + thin + 1}, {lens.right(), y - 1}};
        ui.polyline(fan, theme.ink3, 1, 4, 4);
        ui.text(plot.x - 12, y + bar / 2 + 1, "in a lens", {.size = 14, .align = Align::right, .weight = 600});
        if (bar >= 24)
            ui.text(plot.x - 12, y + bar / 2 + 17, "slots used",
                    {.size = 12, .color = theme.ink2, .align = Align::right, .width = names - 12});
        ui.text(r.right(), y + bar / 2 + 5, fmt::format("{:.0f} %", 100 * own.warps[4]),
                {.size = 18, .align = Align::right, .weight = 700});
        const float foot = lens.bottom() + thin + 12;
        ui.text(lens.x, foot, "0", {.size = 12, .color = theme.ink2});
        ui.text(lens.right(), foot, "1 a cycle: no slot is empty", {.size = 12, .color = theme.ink2, .align = Align::right});
    }

    // Blocks of the bar are warps; the active ones are split by what they do.
    static void draw_bar(Ui& ui, const Funnel& it, size_t stage, const Rect& box) {
        const Theme& theme = *ui.theme;
        if (stage == 0) {
            const auto count = static_cast<int>(std::lround(it.warps[0]));
            for (int w = 0; w < count; ++w) {
                const float from = box.x + box.w * static_cast<float>(w) / static_cast<float>(count);
                ui.frame({from, box.y, box.w / static_cast<float>(count) - 1, box.h}, theme.ink3, 1);
            }
            return;
        }
        if (stage == 1) return ui.rect(box, data::blue);
        if (stage == 4) return ui.rect(box, data::green);
        float x = box.x;
        const float each = box.w / static_cast<float>(std::max(1e-9, it.warps[stage]));
        const auto part = [&](double warps, StallReason state) {
            const float w = std::min(box.right() - x, each * static_cast<float>(warps));
            if (w <= 0.3f) return;
            draw_state(ui, {x, box.y, std::max(1.0f, w), box.h}, state);
            x += w;
        };
        part(it.warps[4], StallReason::selected);
        part(it.not_selected, StallReason::not_selected);
        if (stage == 3) return;
        for (const Share& wait : it.waits) part(wait.warps, wait.state);
    }

    static void draw_legend(Ui& ui, const Funnel& it, bool both, const RunNames&, const Rect& r) {
        float x = r.x;
        const auto entry = [&](StallReason state, std::string_view words) {
            const float w = ui.text_width(words, {.size = 13}) + 44;
            if (x + w > r.right()) return;
            draw_state(ui, {x, r.y + 4, 18, 13}, state);
            x = ui.text(x + 24, r.y + 15, words, {.size = 13, .color = ui.theme->ink2}) + 18;
        };
        entry(StallReason::selected, "selected");
        if (it.not_selected > 0.005) entry(StallReason::not_selected, "eligible, not picked");
        for (size_t i = 0; i < it.waits.size() && i < 3; ++i)
            if (it.waits[i].warps > 0.05) entry(it.waits[i].state, row_of(it.waits[i].state).label);
        if (both && x + 120 < r.right()) {
            ui.rect({x, r.y + 8, 20, 5}, ui.theme->ink2);
            ui.text(x + 26, r.y + 15, "the other run", {.size = 13, .color = ui.theme->ink2});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_funnel_view() {
    return std::make_unique<FunnelView>();
}

}  // namespace lockstep::gui
