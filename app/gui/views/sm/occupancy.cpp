// The occupancy calculator: what a block asks for (threads, registers a thread, shared memory) on which GPU, the limits on
// resident blocks that follow, and resident warps over each of the three while the others stay. It starts from the kernel
// on show. The sliders and the curves both set the values; `lockstep occupancy` prints the same facts. Beside the curves:
// how many issue slots the runs of this launch used, a dot each, as resident warps are changed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/gui/view.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/sm/resident_warps.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

struct Wanted {
    uint32_t threads = 256, registers = 32, shared = 0;
    bool operator==(const Wanted&) const = default;
};

Wanted wanted_by(const model::KernelRun& run) {
    Wanted w;
    w.threads = static_cast<uint32_t>(std::clamp<uint64_t>(run.config.block.count(), 1, 1024));
    if (run.program) {
        w.registers = std::clamp<uint32_t>(ptx::registers_on(*run.program, run.gpu.compute.number), 1, 255);
        w.shared = std::max(run.program->static_shared, run.program->dynamic_shared_offset);
    }
    w.shared += run.config.dynamic_shared;
    return w;
}

model::Occupancy occupancy_of(const model::GpuSpec& gpu, const Wanted& w) {
    return model::occupancy(gpu, w.threads, w.registers, w.shared);
}

std::string limiters_of(const model::GpuSpec& gpu, const Wanted& w) {
    return limiter_names(limiter_rows(model::occupancy_limits(gpu, w.threads, w.registers, w.shared)));
}

std::string sentence_of(const model::GpuSpec& gpu, const Wanted& w) {
    const model::Occupancy o = occupancy_of(gpu, w);
    std::string name = limiters_of(gpu, w);
    const bool one = name == "shared memory";
    if (o.blocks == 0) return fmt::format("No block fits: {} {} not allow even one.", name, one ? "does" : "do");
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return fmt::format("{} {} at {} of {}: {} of {} warps, occupancy {:.0f} %.", name, one ? "stops" : "stop",
                       counted(o.blocks, "block"), counted(o.warps_per_block, "warp"), o.blocks * o.warps_per_block,
                       gpu.warps_per_sm.value, 100 * o.fraction);
}

// One axis of the calculator: which value, its range and step.
struct Axis {
    std::string_view name, unit;
    uint32_t Wanted::*value;
    uint32_t least, most, step;
};

class OccupancyView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        hidden_ = session.learn.reveal_steps >= 0;
        session.sm.issues.adopt(session.snapshot()->kernel.run);
        adopt(session.snapshot()->kernel.run, session);
        const std::string sentence = hidden_ ? "The calculator opens when you lock an answer." : sentence_of(gpu_, wanted_);
        const Rect body = ui.panel(area, {.title = "Occupancy", .badge = Provenance::derived, .caption = sentence});
        ui.push_scope("occupancy");
        if (hidden_) {
            ui.dashed(body, ui.theme->ink3);
            ui.text(body.x + body.w / 2, body.y + body.h / 2, "The calculator opens when you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            return ui.pop_scope();
        }
        draw_header(ui, session, area);
        // In a low panel, as in front of a class, all rows stand closer: the curves are what is asked about.
        const Spacing space = body.h < content_height(body.w, roomy) ? close : roomy;
        const float content = content_height(body.w, space);
        const float up = content > body.h ? ui.scroll("all", {body.x, body.y, body.w + 10, body.h}, content) : 0;
        ui.clip({body.x - 4, body.y, body.w + 14, body.h});
        const float top = body.y - up, height = std::max(body.h, content);
        float y = top + 4;
        for (const Axis& axis : axes()) {
            slider_row(ui, {body.x, y, body.w, space.slider}, axis);
            y += space.slider;
        }
        y += 6;
        draw_warps(ui, {body.x, y, body.w, space.warps - 4});
        y += space.warps;
        const auto rows = limiter_rows(model::occupancy_limits(gpu_, wanted_.threads, wanted_.registers, wanted_.shared));
        draw_limits(ui, {body.x, y, body.w, 70}, rows, occupancy_of(gpu_, wanted_).blocks);
        y += space.limits;
        ui.text(body.x, y + 10, "Resident warps over each of the three, the others as they are",
                {.size = 13, .color = ui.theme->ink2, .width = body.w});
        y += space.heading;
        draw_curves(ui, {body.x, y, body.w, top + height - y}, session.sm.issues.used());
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        if (session.learn.reveal_steps >= 0) return "Occupancy (derived): it opens when you lock an answer.\n";
        const auto snapshot = session.snapshot();
        Wanted w = wanted_;
        model::GpuSpec gpu = gpu_;
        if (!touched_ && snapshot->kernel.run) {
            w = wanted_by(*snapshot->kernel.run);
            gpu = snapshot->kernel.run->gpu;
        }
        std::string text = fmt::format("Occupancy (derived): {}, {} a block, {} a thread, {} B of shared memory a block\n",
                                       gpu.title, counted(w.threads, "thread"), counted(w.registers, "register"), w.shared);
        const uint32_t fit = occupancy_of(gpu, w).blocks;
        for (const model::OccupancyLimit& limit : model::occupancy_limits(gpu, w.threads, w.registers, w.shared))
            text += fmt::format("  {}: {}; {}{}\n", limit.name, counted(limit.blocks, "block"), limit.rule,
                                limit.blocks == fit ? ", the limiter" : "");
        for (const auto& [warps, used] : session.sm.issues.used())
            text += fmt::format("  run with {} resident warps: {:.1f} % of the issue slots used\n", warps, used);
        return text + "  " + sentence_of(gpu, w) + "\n";
    }

  private:
    std::shared_ptr<const model::KernelRun> run_;
    model::GpuSpec gpu_ = model::gpus().front();
    Wanted wanted_;
    bool touched_ = false;  // something was chosen by hand
    bool hidden_ = false;   // a prediction is open: what was measured stays hidden

    void adopt(const std::shared_ptr<const model::KernelRun>& run, const Session& session) {
        if (run == run_ && run_) return;
        if (!run && !touched_ && gpu_.name != session.gpu)
            if (auto named = model::gpu_named(session.gpu)) gpu_ = named.value();
        const bool another = run && (!run_ || run_->program != run->program);
        run_ = run;
        if (run && (another || !touched_)) as_the_kernel();
    }

    void as_the_kernel() {
        if (!run_) return;
        wanted_ = wanted_by(*run_);
        gpu_ = run_->gpu;
        touched_ = false;
    }

    std::array<Axis, 3> axes() const {
        const auto most_shared = std::max<uint32_t>(1024, gpu_.shared_per_block.value);
        return {{{"threads a block", "", &Wanted::threads, 32, 1024, 32},
                 {"registers a thread", "", &Wanted::registers, 1, 255, 1},
                 {"shared mem. a block", "B", &Wanted::shared, 0, most_shared,
                  std::max<uint32_t>(128, gpu_.shared_granule.value)}}};
    }

    void set(const Axis& axis, double value) {
        const double steps = std::round((value - axis.least) / axis.step);
        const auto wanted = static_cast<uint32_t>(std::clamp<double>(axis.least + steps * axis.step, axis.least, axis.most));
        if (wanted == wanted_.*axis.value) return;
        wanted_.*axis.value = wanted;
        touched_ = true;
    }

    void draw_header(Ui& ui, const Session&, const Rect& area) {
        float end = area.right() - 38;
        const auto chip = [&](std::string_view label) {
            float x = end - ui.chip_width(label);
            end = x - 6;
            return ui.chip(x, area.y + 2, label);
        };
        const auto all = model::gpus();
        const auto at = std::find_if(all.begin(), all.end(), [&](const model::GpuSpec& g) { return g.name == gpu_.name; });
        const auto turn = [&](int by) {
            const auto count = static_cast<int>(all.size());
            const int next = (static_cast<int>(at - all.begin()) + by + count) % count;
            gpu_ = all[static_cast<size_t>(at == all.end() ? 0 : next)];
            wanted_.shared = std::min<uint32_t>(wanted_.shared, gpu_.shared_per_block.value);
            touched_ = true;
        };
        if (chip(">")) turn(1);
        const std::string name(gpu_.title);
        const float width = std::min(ui.text_width(name, {.size = 13, .weight = 600}), std::max(40.0f, end - area.x - 150));
        ui.text(end, area.y + 20, name, {.size = 13, .align = Align::right, .weight = 600, .width = width});
        end -= width + 8;
        if (chip("<")) turn(-1);
        if (run_ && touched_ && end - ui.chip_width("As the kernel") > area.x + 120 && chip("As the kernel"))
            as_the_kernel();
    }

    // The curves stand in a row, in two where that is too narrow, else below each other.
    static size_t curves_beside(float width) { return width >= 480 ? 4 : width >= 300 ? 2 : 1; }
    struct Spacing {
        float slider, warps, limits, heading, curve;  // of the last: where four stand beside each other
    };
    static constexpr Spacing roomy{28, 50, 80, 22, 160}, close{22, 38, 72, 16, 104};
    static float content_height(float width, const Spacing& space) {
        const size_t beside = curves_beside(width);
        return 3 * space.slider + 10 + space.warps + space.limits + space.heading +
               (beside == 4   ? space.curve
                : beside == 2 ? 2 * 116.0f
                              : 4 * 150.0f);
    }

    void slider_row(Ui& ui, const Rect& r, const Axis& axis) {
        const uint32_t value = wanted_.*axis.value;
        const float label = std::min(170.0f, r.w * 0.4f), number = 84;
        const float baseline = r.y + r.h / 2 + 5;
        ui.text(r.x, baseline, axis.name, {.size = 13, .color = ui.theme->ink2, .width = label - 10});
        const Rect box{r.x + label + 8, r.y + r.h / 2 - 8, r.w - label - number - 20, 16};
        const auto range = static_cast<float>(axis.most - axis.least);
        const float at = ui.slider(axis.name, box, static_cast<float>(value - axis.least) / range,
                                   static_cast<int>(range) / static_cast<int>(axis.step) + 1);
        if (std::fabs(at - static_cast<float>(std::clamp(value, axis.least, axis.most) - axis.least) / range) >
            0.5f * static_cast<float>(axis.step) / range)
            set(axis, axis.least + static_cast<double>(at) * static_cast<double>(range));
        ui.text(r.right(), baseline,
                with_commas(wanted_.*axis.value) + (axis.unit.empty() ? "" : " " + std::string(axis.unit)),
                {.size = 13, .align = Align::right, .weight = 600});
    }

    // The SM's warp slots, a row a sub-core, those that the blocks fill in blue, block by block in two shades.
    void draw_warps(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        const model::Occupancy o = occupancy_of(gpu_, wanted_);
        const uint32_t all = std::max<uint32_t>(1, gpu_.warps_per_sm.value),
                       lines = std::max<uint32_t>(1, std::min<uint32_t>(4, gpu_.sub_cores.value));
        const uint32_t resident = o.blocks * o.warps_per_block, a_line = (all + lines - 1) / lines;
        const float right = 120;
        const float pitch = std::min(22.0f, (r.w - right) / static_cast<float>(a_line)),
                    tall = (r.h - 4) / static_cast<float>(lines);
        for (uint32_t i = 0; i < all; ++i) {  // a block's warps go round the sub-cores
            const Rect box{r.x + pitch * static_cast<float>(i / lines), r.y + tall * static_cast<float>(i % lines),
                           pitch - 2, tall - 2};
            if (i < resident)
                ui.rect(box, sequential(i / o.warps_per_block % 2 == 0 ? 0.72f : 0.5f, theme));
            else
                ui.frame(box, theme.line);
        }
        const float second = r.y + std::min(38.0f, r.h);
        ui.text(r.right(), second - 18, fmt::format("{:.0f} %", 100 * o.fraction),
                {.size = 20, .align = Align::right, .weight = 700});
        ui.text(r.right(), second, fmt::format("{} of {} warps", resident, all),
                {.size = 12, .color = theme.ink2, .align = Align::right});
    }

    void draw_curves(Ui& ui, const Rect& r, const std::map<uint32_t, double>& seen) {
        const bool measured = !seen.empty();
        const auto all = axes();
        const size_t count = all.size() + (measured ? 1 : 0), beside = std::min(curves_beside(r.w), count);
        const auto lines = static_cast<float>((count + beside - 1) / beside), columns = static_cast<float>(beside);
        const float w = (r.w - 14 * (columns - 1)) / columns, h = r.h / lines;
        const auto place = [&](size_t i) {
            return Rect{r.x + (w + 14) * static_cast<float>(i % beside), r.y + h * static_cast<float>(i / beside), w, h - 4};
        };
        for (size_t i = 0; i < all.size(); ++i) draw_curve(ui, place(i), all[i]);
        if (measured) draw_runs(ui, place(all.size()), seen);
    }

    // What the runs of this launch made of their resident warps: a dot each, the one on show filled. Of few slots used, the
    // scale ends lower.
    void draw_runs(Ui& ui, const Rect& r, const std::map<uint32_t, double>& seen) const {
        const Theme& theme = *ui.theme;
        const Rect plot{r.x + 30, r.y + 26, r.w - 38, r.h - 48};
        if (plot.h < 30 || plot.w < 40 || !run_) return;
        const auto most = static_cast<float>(std::max<uint32_t>(1, run_->gpu.warps_per_sm.value));
        double highest = 0;
        for (const auto& [warps, used] : seen) highest = std::max(highest, used);
        const int scale = highest <= 10 ? 10 : highest <= 20 ? 20 : highest <= 50 ? 50 : 100;
        const auto point = [&](uint32_t warps, double used) {
            return Point{plot.x + plot.w * static_cast<float>(warps) / most,
                         plot.bottom() - plot.h * static_cast<float>(used) / static_cast<float>(scale)};
        };
        ui.text(r.x, r.y + 13, "issue slots used, %", {.size = 12, .color = theme.ink2, .weight = 600, .width = r.w});
        for (const int percent : {0, scale / 2, scale}) {
            const float y = point(0, percent).y;
            ui.rect({plot.x, y, plot.w, 1}, theme.grid);
            ui.text(plot.x - 5, y + 4, std::to_string(percent),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        ui.text(plot.x, plot.bottom() + 15, "0", {.size = 12, .color = theme.quiet, .mono = true});
        ui.text(plot.right(), plot.bottom() + 15, fmt::format("{:.0f} warps", most),
                {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        if (gpu_.name != run_->gpu.name)
            ui.text(plot.x + plot.w / 2, plot.y + 8, fmt::format("runs on {}", run_->gpu.title),
                    {.size = 12, .color = theme.ink2, .align = Align::center, .width = plot.w});
        std::vector<Point> line;
        for (const auto& [warps, used] : seen) line.push_back(point(warps, used));
        if (line.size() > 1) ui.polyline(line, theme.ink3, 1);
        const ResidentWarps resident = resident_of(*run_);
        for (const auto& [warps, used] : seen) {
            const Point at = point(warps, used);
            const bool shown = warps == resident.blocks * resident.warps_per_block;
            ui.circle(at, 5, shown ? data::green : theme.panel);
            ui.ring(at, 5, shown ? theme.ink : data::green, 1.5f);
            if (ui.hovered({at.x - 7, at.y - 7, 14, 14}))
                ui.tooltip(fmt::format("{} resident warps: {:.1f} % of the issue slots used (simulated)", warps, used));
        }
    }

    // Resident warps over one of the three values, the others as they are.
    void draw_curve(Ui& ui, const Rect& r, const Axis& axis) {
        const Theme& theme = *ui.theme;
        const Rect plot{r.x + 24, r.y + 26, r.w - 30, r.h - 48};
        if (plot.h < 30 || plot.w < 40) return;
        const auto most = static_cast<float>(std::max<uint32_t>(1, gpu_.warps_per_sm.value));
        const auto range = static_cast<float>(axis.most - axis.least);
        const auto x_of = [&](double value) { return plot.x + plot.w * static_cast<float>(value - axis.least) / range; };
        const auto y_of = [&](double warps) { return plot.bottom() - plot.h * static_cast<float>(warps) / most; };
        const TextStyle title{.size = 12, .color = theme.ink2, .weight = 600, .width = r.w};
        const std::string_view of = axis.name.substr(0, axis.name.rfind(" a "));  // "threads", where "a block" has no room
        ui.text(r.x, r.y + 13, ui.text_width(axis.name, {.size = 12, .weight = 600}) <= r.w ? axis.name : of, title);
        for (const uint32_t share : {0u, 1u, 2u}) {
            const uint32_t warps = gpu_.warps_per_sm.value * share / 2;
            ui.rect({plot.x, y_of(warps), plot.w, 1}, theme.grid);
            ui.text(plot.x - 5, y_of(warps) + 4, std::to_string(warps),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        const auto text_of = [&](uint32_t value) {
            return axis.unit == "B" && value >= 1024 ? fmt::format("{} K", value / 1024) : with_commas(value);
        };
        ui.text(plot.x, plot.bottom() + 15, text_of(axis.least), {.size = 12, .color = theme.quiet, .mono = true});
        ui.text(plot.right(), plot.bottom() + 15, text_of(axis.most) + (axis.unit == "B" ? "iB" : ""),
                {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        // A step where the number changes: two corners.
        std::vector<Point> corners;
        Wanted w = wanted_;
        double before = -1;
        for (uint32_t value = axis.least; value <= axis.most; value += axis.step) {
            w.*axis.value = value;
            const model::Occupancy o = occupancy_of(gpu_, w);
            const double warps = o.blocks * o.warps_per_block;
            if (warps != before && before >= 0) corners.push_back({x_of(value), y_of(before)});
            if (warps != before) corners.push_back({x_of(value), y_of(warps)});
            before = warps;
        }
        corners.push_back({plot.right(), y_of(before)});
        ui.polyline(corners, theme.accent, 1.5f);
        const model::Occupancy now = occupancy_of(gpu_, wanted_);
        const Point mark{x_of(std::clamp(wanted_.*axis.value, axis.least, axis.most)),
                         y_of(now.blocks * now.warps_per_block)};
        ui.rect({mark.x - 0.5f, plot.y, 1, plot.h}, theme.ink3);
        ui.circle(mark, 5, theme.panel);
        ui.ring(mark, 5, theme.ink, 2);
        const Drag drag = ui.drag(std::string("curve ") + std::string(axis.name), plot);
        if (drag.active) set(axis, axis.least + static_cast<double>((drag.at.x - plot.x) / plot.w * range));
        if (ui.hovered(plot) && !drag.active) {
            const double at = axis.least + static_cast<double>((ui.mouse.x - plot.x) / plot.w * range);
            Wanted there = wanted_;
            there.*axis.value = static_cast<uint32_t>(std::clamp<double>(
                axis.least + std::round((at - axis.least) / axis.step) * axis.step, axis.least, axis.most));
            const model::Occupancy o = occupancy_of(gpu_, there);
            ui.tooltip(fmt::format("{} {}: {} of {} warps, limited by {}", with_commas(there.*axis.value), axis.name,
                                   o.blocks * o.warps_per_block, gpu_.warps_per_sm.value, limiters_of(gpu_, there)));
        }
    }
};

}  // namespace

std::unique_ptr<View> make_occupancy_view() {
    return std::make_unique<OccupancyView>();
}

}  // namespace lockstep::gui
