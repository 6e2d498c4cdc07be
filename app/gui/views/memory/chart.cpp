// D5, the memory chart: from the kernel through its memory spaces, L1 and shared memory, L2, to DRAM. A link is as thick as
// the logarithm of its bytes and as dark as its share of the peak; dashes run in the direction of the flow while the
// pointer is here or the run plays. For the whole kernel, or for the cycles that the time pictures show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/memory/chart_picture.h"
#include "app/gui/views/memory/request_data.h"
#include "core/base/units.h"
#include "core/model/sample/sampling.h"

namespace lockstep::gui {
namespace {

class ChartView final : public View, ChartPicture {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::string nothing = why_nothing(session, *snapshot);
        if (!nothing.empty()) {
            const Rect body = ui.panel(area, {.title = "Memory chart"});
            return ui.say_nothing_yet(body, nothing, "It shows how many bytes flow between the memories.");
        }
        follow_clock(session, focus, model::shown_cycles(snapshot->kernel.run->result));
        update(session, focus, *snapshot);
        const model::KernelRun& run = *snapshot->kernel.run;
        const std::string sentence = caption_of(run);
        const Rect body = ui.panel(area, {.title = "Memory chart",
                                          .right = run.program->shown_name(),
                                          .header_badge = Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("chart");
        flowing_ = !ui.calm() && (session.playing || (ui.enabled && area.contains(ui.mouse)));
        if (flowing_) ui.animate();
        // In little room above a prediction the boxes have the height of the chips, which the whole kernel does without.
        const bool chips = body.h >= low_body || !has_room_to_itself(session, body.h);
        if (chips)
            draw_controls(ui, body);
        else if (std::exchange(window_, false))
            run_ = nullptr;
        const float used = chips ? 36.0f : 0.0f;
        place(Rect{body.x, body.y + used, body.w, body.h - used});
        draw_kernel(ui, run);
        draw_spaces(ui);
        draw_l1(ui, session, run, area);
        draw_l2(ui, run);
        draw_dram(ui, run);
        draw_links(ui);
        ui.pop_scope();
    }

    float needs(Ui&, Session& session, Focus&, const Rect& room) override {
        return room.h < low_body + around && has_room_to_itself(session, room.h - around) ? 310 : 346;
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (const std::string nothing = why_nothing(session, *snapshot); !nothing.empty())
            return "Memory chart: " + nothing + "\n";
        update(session, focus, *snapshot);
        std::string text =
            fmt::format("Memory chart (simulated), {}, {}\n", snapshot->kernel.run->program->shown_name(), stretch_text());
        const auto add = [&](const std::string& name, const model::Link& link) {
            text += fmt::format("  {}: {}, {}, {} of peak\n", name, bytes_text(static_cast<double>(link.bytes)),
                                counted(link.requests, "request"), peak_text(link.percent_of_peak));
        };
        for (const ChartSpace& space : chart_.spaces)
            for (const ChartRow& row : space.rows) {
                add(fmt::format("{} {}, {}", space.name, row.label, row.to_shared ? "into shared memory" : "lanes"),
                    row.asked);
                if (row.passes_each() > 1.05) text += fmt::format("    {:.3g} passes a request\n", row.passes_each());
                if (space.name != "Shared") add(fmt::format("{} {}, L1", space.name, row.label), row.handled);
            }
        add("L2 to L1", chart_.from_l2);
        add("L1 to L2", chart_.to_l2);
        add("DRAM to L2", chart_.dram_read);
        add("L2 to DRAM", chart_.dram_write);
        text += fmt::format("  L1 hits {} of {}, L2 hits {} of {}\n", with_commas(static_cast<int64_t>(chart_.l1_hits)),
                            counted(chart_.l1_sectors, "sector"), with_commas(static_cast<int64_t>(chart_.l2_hits)),
                            counted(chart_.l2_sectors, "sector"));
        const CarveOut carve = carve_out_of(*snapshot->kernel.run, chart_.shared_bytes);
        text += fmt::format("  an SM has {} of L1 and {} of shared memory{}\n", bytes_text(chart_.l1_bytes),
                            bytes_text(chart_.shared_bytes), carve.by_hand ? ", chosen by hand" : "");
        if (carve.sizes.size() > 1) {
            text += "  shared memory may have";
            for (const uint32_t size : carve.sizes) text += " " + bytes_text(size) + ",";
            text.back() = '\n';
        }
        return text + "  " + caption_of(*snapshot->kernel.run) + "\n";
    }

  private:
    static constexpr float low_body = 264, around = 82;  // below it no chips; title and caption around it
    bool window_ = false;
    std::string caption_of(const model::KernelRun& run) const {
        const std::string stopped = stopped_text(run);
        if (stopped.empty()) return sentence_of(chart_);
        const bool quiet = std::none_of(chart_.spaces.begin(), chart_.spaces.end(), [](const auto& s) { return s.used(); });
        return quiet && !window_ ? stopped + ", before any lane asked for memory." : stopped + ". " + sentence_of(chart_);
    }

    static std::string why_nothing(const Session& session, const Snapshot& snapshot) {
        if (!snapshot.kernel.run || !snapshot.kernel.run->program)
            return snapshot.busy.empty() ? "No kernel has run yet." : snapshot.busy;
        if (session.learn.reveal_steps >= 0) return "The traffic stays hidden until you lock an answer.";
        if (session.roof.guessing()) return "The traffic stays hidden until you lock your guess on the roofline.";
        return {};
    }

    // Where no time picture stands beside this one, the clock that runs out of the window takes it along all the same.
    void follow_clock(Session& session, const Focus& focus, int64_t cycles) {
        const int64_t length = session.sm.cycles_end - session.sm.cycles_begin;
        const bool moved = focus.time != seen_time_ && seen_time_ >= 0;
        seen_time_ = focus.time;
        if (!moved || length <= 0 || (focus.time >= session.sm.cycles_begin && focus.time < session.sm.cycles_end)) return;
        session.sm.cycles_begin = std::clamp<int64_t>(focus.time - length / 2, 0, std::max<int64_t>(0, cycles - length));
        session.sm.cycles_end = session.sm.cycles_begin + length;
    }
    int64_t seen_time_ = -1;

    void update(const Session& session, const Focus& focus, const Snapshot& snapshot) const {
        int64_t begin = 0, end = snapshot.kernel.run->result.cycles;
        if (window_ && session.sm.cycles_end > session.sm.cycles_begin)
            begin = session.sm.cycles_begin, end = session.sm.cycles_end;
        else if (window_ && focus.time >= 0)
            begin = focus.time, end = focus.time + 1;
        if (run_ == snapshot.kernel.run && begin == begin_ && end == end_) return;
        if (run_ != snapshot.kernel.run) wish_ = -1;
        run_ = snapshot.kernel.run;
        begin_ = begin;
        end_ = end;
        chart_ = window_ ? chart_of(*run_, begin, end) : chart_of(*run_);
    }

    std::string stretch_text() const {
        return window_ ? fmt::format("cycles {} to {}", with_commas(chart_.begin), with_commas(chart_.end)) : "whole kernel";
    }

    void draw_controls(Ui& ui, const Rect& body) {
        const Theme& theme = *ui.theme;
        float x = body.x;
        const bool window = ui.segmented(x, body.y, {"whole kernel", "window"}, window_ ? 1 : 0) == 1;
        if (window != window_) window_ = window, run_ = nullptr;
        if (window_) x = ui.text(x + 4, body.y + 18, stretch_text(), {.size = 13, .color = theme.ink2}) + 16;
        const float scale = body.right() - 140;
        const std::string legend = "link width: log bytes · colour: % of peak";
        if (scale - 12 - ui.text_width(legend, {.size = 12}) < x) return;
        ui.text(scale - 8, body.y + 18, legend, {.size = 12, .color = theme.ink2, .align = Align::right});
        ui.text(scale, body.y + 18, "0", {.size = 12, .color = theme.ink2});
        for (int i = 0; i < 20; ++i)
            ui.rect({scale + 12 + 5 * static_cast<float>(i), body.y + 8, 5, 10},
                    sequential(static_cast<float>(i) / 19, theme));
        ui.text(scale + 116, body.y + 18, "100", {.size = 12, .color = theme.ink2});
    }

    void draw_kernel(Ui& ui, const model::KernelRun& run) const {
        const Theme& theme = *ui.theme;
        const Rect r = column(0);
        box(ui, r, "Kernel", false, 3);
        const uint64_t blocks = run.config.grid.count(), threads = run.config.block.count(),
                       warps = blocks * ((threads + 31) / 32);
        const int64_t cycles = window_ ? chart_.end - chart_.begin : run.result.cycles;
        const double us = static_cast<double>(cycles) / run.gpu.boost_mhz;
        const std::pair<std::string, std::string> facts[] = {
            {with_commas(static_cast<int64_t>(blocks)),
             std::string(fitting(
                 ui, {fmt::format("block{} of {}", blocks == 1 ? "" : "s", threads), fmt::format("x {} thr.", threads)},
                 {.size = 12}, r.w - 14))},
            {with_commas(static_cast<int64_t>(warps)), warps == 1 ? "warp" : "warps"},
            {with_commas(cycles), cycles == 1 ? "cycle" : "cycles"},
            {lockstep::time_text(us), fmt::format("at {:.4g} GHz", run.gpu.boost_mhz / 1000)}};
        const float pitch = std::min(56.0f, (r.h - 36) / 4);
        if (pitch < 34) return;
        for (size_t i = 0; i < std::size(facts); ++i) {
            const float y = r.y + 52 + pitch * static_cast<float>(i);
            ui.text(r.x + 10, y, facts[i].first, {.size = 16, .weight = 600, .width = r.w - 14});
            ui.text(r.x + 10, y + 17, facts[i].second, {.size = 12, .color = theme.ink2, .width = r.w - 14});
        }
    }

    void draw_spaces(Ui& ui) const {
        size_t row = 0;
        for (size_t s = 0; s < chart_.spaces.size(); ++s) {
            const ChartSpace& space = chart_.spaces[s];
            const bool dim = !space.used();
            if (space_[s].h < 0) continue;
            box(ui, space_[s], space.name, dim, 12, dim ? "0 B" : "");
            for (const ChartRow& one : space.rows) {
                const float y = row_y_[row++];
                if (row_h_ >= 34) ui.text(x_[1] + 10, y + 1, one.label, {.size = 13});
                draw_requests(ui, one, y);
                if (one.to_shared && one.asked.bytes > 0) draw_copy(ui, y, one.asked);
            }
        }
    }

    static void ticks(Ui& ui, const Rect& r, uint32_t count, Color color) {
        const float pitch = r.w / static_cast<float>(std::max(1u, count));
        for (uint32_t i = 0; i < count && count <= 256; ++i)
            ui.rect({r.x + pitch * static_cast<float>(i), r.y, std::max(1.0f, pitch * 0.66f), r.h}, color);
    }

    void draw_l2(Ui& ui, const model::KernelRun& run) const {
        const Theme& theme = *ui.theme;
        const Rect r = column(3);
        box(ui, r, "L2", false, 3, bytes_text(run.gpu.l2_bytes));
        ticks(ui, {r.x + 10, r.y + 28, r.w - 20, 10}, run.gpu.l2_slices, mix(theme.panel, theme.accent, 0.45f));
        ui.text(r.x + 10, r.y + 54,
                fitting(ui, {counted(run.gpu.l2_slices.value, "slice"), fmt::format("{} sl.", run.gpu.l2_slices.value)},
                        {.size = 12}, r.w - 14),
                {.size = 12, .color = theme.ink2, .width = r.w - 14});
        const float end = hit_bar(ui, r.x + 10, r.y + 84, r.w - 20, "hits", chart_.l2_hits, chart_.l2_sectors);
        if (r.bottom() - end < 76) return;
        const std::string words = chart_.l2_sectors == 0         ? ""
                                  : chart_.dram_write.bytes == 0 ? "What is written stays here for now."
                                                                 : "What does not fit any more goes on to DRAM.";
        ui.paragraph({r.x + 10, end + 20, r.w - 20, 60}, words, {.size = 12, .color = theme.ink2}, 17);
    }

    void draw_dram(Ui& ui, const model::KernelRun& run) const {
        const Theme& theme = *ui.theme;
        const Rect r = column(4);
        box(ui, r, "DRAM", false, 3, run.gpu.memory_gb > 0 ? fmt::format("{:g} GB", run.gpu.memory_gb.value) : "");
        ticks(ui, {r.x + 10, r.y + 28, r.w - 20, 10}, run.gpu.dram_channels, mix(theme.panel, theme.accent, 0.65f));
        ui.text(
            r.x + 10, r.y + 54,
            fitting(ui,
                    {counted(run.gpu.dram_channels.value, "channel"), fmt::format("{} ch.", run.gpu.dram_channels.value)},
                    {.size = 12}, r.w - 14),
            {.size = 12, .color = theme.ink2, .width = r.w - 14});
        if (r.h < 180) return;
        const double share = chart_.dram_percent();
        ui.text(r.x + 10, r.y + 100, share < 2 ? peak_text(share) : fmt::format("{:.0f} %", share),
                {.size = 24, .weight = 600, .width = r.w - 14});
        ui.text(r.x + 10, r.y + 118, "of peak", {.size = 12, .color = theme.ink2});
        const Rect bar{r.x + 10, r.y + 128, r.w - 20, 10};
        ui.rect(bar, theme.panel);
        const auto part = static_cast<float>(std::clamp(share / 100, 0.0, 1.0));
        ui.rect({bar.x, bar.y, bar.w * part, bar.h}, sequential(part, theme));
        ui.frame(bar, theme.line);
        const double peak = run.gpu.dram_gb_per_second;
        const double rate = peak * share / 100;
        ui.text(r.x + 10, r.y + 156,
                rate > 0 && rate < 1 ? fmt::format("< 1 of {:.0f}", peak) : fmt::format("{:.0f} of {:.0f}", rate, peak),
                {.size = 12});
        ui.text(r.x + 10, r.y + 172, "GB/s", {.size = 12, .color = theme.ink2});
    }
};

}  // namespace

std::unique_ptr<View> make_chart_view() {
    return std::make_unique<ChartView>();
}

}  // namespace lockstep::gui
