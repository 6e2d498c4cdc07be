// D5, the memory chart: from the kernel through its memory spaces, L1 and shared memory, L2, to DRAM. A link is as thick as
// the logarithm of its bytes and as dark as its share of the peak; dashes run in the direction of the flow while the
// pointer is here or the run plays. For the whole kernel, or for the cycles that the time pictures show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/chart_data.h"
#include "app/gui/views/memory_views.h"
#include "app/gui/views/request_data.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {
namespace {

constexpr int columns = 5;
constexpr float shares[columns] = {112, 120, 168, 136, 112};

std::string percent(double value) {
    return value == 0 ? "0 %" : value < 0.1 ? "< 0.1 %" : fmt::format("{:.1f} %", value);
}

class ChartView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::string nothing = why_nothing(session, *snapshot);
        if (!nothing.empty()) {
            const Rect body = ui.panel(area, {.title = "Memory chart"});
            return ui.say_nothing_yet(body, nothing, "It shows how many bytes flow between the memories.");
        }
        follow_clock(session, focus, snapshot->kernel->result.cycles);
        update(session, focus, *snapshot);
        const model::KernelRun& run = *snapshot->kernel;
        const std::string sentence = caption_of(run);
        const Rect body = ui.panel(area, {.title = "Memory chart",
                                          .right = run.program->shown_name(),
                                          .header_badge = Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("chart");
        flowing_ = session.playing || (ui.enabled && area.contains(ui.mouse));
        if (flowing_) ui.animate();
        draw_controls(ui, body);
        place(Rect{body.x, body.y + 36, body.w, body.h - 36});
        draw_kernel(ui, run);
        draw_spaces(ui);
        draw_l1(ui, session, run, area);
        draw_l2(ui, run);
        draw_dram(ui, run);
        draw_links(ui);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (const std::string nothing = why_nothing(session, *snapshot); !nothing.empty())
            return "Memory chart: " + nothing + "\n";
        update(session, focus, *snapshot);
        std::string text =
            fmt::format("Memory chart (simulated), {}, {}\n", snapshot->kernel->program->shown_name(), stretch_text());
        const auto add = [&](const std::string& name, const model::Link& link) {
            text += fmt::format("  {}: {}, {} requests, {} of peak\n", name, bytes_text(static_cast<double>(link.bytes)),
                                with_commas(static_cast<int64_t>(link.requests)), percent(link.percent_of_peak));
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
        text += fmt::format(
            "  L1 hits {} of {} sectors, L2 hits {} of {} sectors\n", with_commas(static_cast<int64_t>(chart_.l1_hits)),
            with_commas(static_cast<int64_t>(chart_.l1_sectors)), with_commas(static_cast<int64_t>(chart_.l2_hits)),
            with_commas(static_cast<int64_t>(chart_.l2_sectors)));
        const CarveOut carve = carve_out_of(*snapshot->kernel, chart_.shared_bytes);
        text += fmt::format("  an SM has {} of L1 and {} of shared memory{}\n", bytes_text(chart_.l1_bytes),
                            bytes_text(chart_.shared_bytes), carve.by_hand ? ", chosen by hand" : "");
        if (carve.sizes.size() > 1) {
            text += "  shared memory may have";
            for (const uint32_t size : carve.sizes) text += " " + bytes_text(size) + ",";
            text.back() = '\n';
        }
        return text + "  " + caption_of(*snapshot->kernel) + "\n";
    }

  private:
    bool window_ = false, flowing_ = false;
    mutable int wish_ = -1;  // index of the carve-out that is asked for; -1: none
    mutable std::shared_ptr<const model::KernelRun> run_;
    mutable int64_t begin_ = -1, end_ = -1;
    mutable Chart chart_;
    static constexpr float share_row = 46;  // a row of this height has room for both labels of any link
    static constexpr float close_row = 31;  // and of this one, closer to the link and to each other
    float above_ = 5, below_ = 14;          // a label's baseline, from the link's edge
    Rect all_;
    float x_[columns] = {}, w_[columns] = {}, row_h_ = 52;
    std::vector<Rect> space_;   // boxes of the spaces
    std::vector<float> row_y_;  // of all their rows, in order

    std::string caption_of(const model::KernelRun& run) const {
        const std::string stopped = stopped_text(run);
        if (stopped.empty()) return sentence_of(chart_);
        const bool quiet = std::none_of(chart_.spaces.begin(), chart_.spaces.end(), [](const auto& s) { return s.used(); });
        return quiet && !window_ ? stopped + ", before any lane asked for memory." : stopped + ". " + sentence_of(chart_);
    }

    static std::string why_nothing(const Session& session, const Snapshot& snapshot) {
        if (!snapshot.kernel || !snapshot.kernel->program)
            return snapshot.busy.empty() ? "No kernel has run yet." : snapshot.busy;
        if (session.reveal_steps >= 0) return "The traffic stays hidden until you lock an answer.";
        if (session.roof.guessing()) return "The traffic stays hidden until you lock your guess on the roofline.";
        return {};
    }

    // Where no time picture stands beside this one, the clock that runs out of the window takes it along all the same.
    void follow_clock(Session& session, const Focus& focus, int64_t cycles) {
        const int64_t length = session.cycles_end - session.cycles_begin;
        const bool moved = focus.time != seen_time_ && seen_time_ >= 0;
        seen_time_ = focus.time;
        if (!moved || length <= 0 || (focus.time >= session.cycles_begin && focus.time < session.cycles_end)) return;
        session.cycles_begin = std::clamp<int64_t>(focus.time - length / 2, 0, std::max<int64_t>(0, cycles - length));
        session.cycles_end = session.cycles_begin + length;
    }
    int64_t seen_time_ = -1;

    void update(const Session& session, const Focus& focus, const Snapshot& snapshot) const {
        int64_t begin = 0, end = snapshot.kernel->result.cycles;
        if (window_ && session.cycles_end > session.cycles_begin)
            begin = session.cycles_begin, end = session.cycles_end;
        else if (window_ && focus.time >= 0)
            begin = focus.time, end = focus.time + 1;
        if (run_ == snapshot.kernel && begin == begin_ && end == end_) return;
        if (run_ != snapshot.kernel) wish_ = -1;
        run_ = snapshot.kernel;
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

    // Columns keep their shares; spaces with traffic get a row for each kind of access.
    void place(const Rect& all) {
        all_ = all;
        const float gap = std::clamp(all.w * 0.07f, 40.0f, 96.0f);
        float sum = 0;
        for (const float share : shares) sum += share;
        float x = all.x;
        for (int i = 0; i < columns; ++i) {
            x_[i] = x;
            w_[i] = (all.w - gap * (columns - 1)) * shares[i] / sum;
            x += w_[i] + gap;
        }
        float rows = 0;
        for (const ChartSpace& space : chart_.spaces) rows += static_cast<float>(space.rows.size());
        float title = 34, empty = 32, between = 6;
        const auto row_height = [&] {
            float fixed = between * (static_cast<float>(chart_.spaces.size()) - 1);
            for (const ChartSpace& space : chart_.spaces) fixed += space.rows.empty() ? empty : title;
            return std::clamp((all.h - fixed) / std::max(1.0f, rows), 26.0f, 64.0f);
        };
        row_h_ = row_height();
        if (row_h_ < share_row) {  // closer together, where that leaves room for the shares of peak
            title = 30, empty = 26, between = 4;
            row_h_ = row_height();
        }
        above_ = 5, below_ = 14;
        if (row_h_ < share_row) {  // closer still; memories without traffic go
            above_ = 3, below_ = 11;
            if (row_h_ < close_row) title = 26, empty = -between;
            row_h_ = row_height();
        }
        space_.clear();
        row_y_.clear();
        float y = all.y;
        for (const ChartSpace& space : chart_.spaces) {
            // Below 0 it takes back the gap: the memory is not drawn.
            const float h = space.rows.empty() ? empty : title + row_h_ * static_cast<float>(space.rows.size());
            space_.push_back({x_[1], y, w_[1], h});
            for (size_t r = 0; r < space.rows.size(); ++r)
                row_y_.push_back(y + title - 4 + row_h_ * (static_cast<float>(r) + 0.5f));
            y += h + between;
        }
    }

    Rect column(int i) const { return {x_[i], all_.y, w_[i], all_.h}; }

    // The first of them that fits, else the last.
    static std::string_view fitting(const Ui& ui, std::initializer_list<std::string_view> words, const TextStyle& style,
                                    float width) {
        for (const std::string_view one : words)
            if (ui.text_width(one, style) <= width) return one;
        return std::data(words)[words.size() - 1];
    }

    static void box(Ui& ui, const Rect& rect, std::string_view title, bool dim, float radius, std::string_view right = {}) {
        const Theme& theme = *ui.theme;
        ui.rect(rect, theme.panel2, radius);
        ui.frame(rect, dim ? theme.line : theme.ink3, 1, radius);
        float room = rect.w - 16;
        if (!right.empty() && rect.w > 100) {
            const float left =
                ui.text(rect.right() - 10, rect.y + 20, right, {.size = 12, .color = theme.ink2, .align = Align::right});
            room = left - rect.x - 16;
        }
        ui.text(rect.x + 10, rect.y + 20, title,
                {.size = 13, .color = dim ? theme.quiet : theme.ink, .weight = 600, .width = room});
    }

    void draw_kernel(Ui& ui, const model::KernelRun& run) const {
        const Theme& theme = *ui.theme;
        const Rect r = column(0);
        box(ui, r, "Kernel", false, 3);
        const uint64_t blocks = run.config.grid.count(), threads = run.config.block.count();
        const int64_t cycles = window_ ? chart_.end - chart_.begin : run.result.cycles;
        const double us = static_cast<double>(cycles) / run.gpu.boost_mhz;
        const std::pair<std::string, std::string> facts[] = {
            {with_commas(static_cast<int64_t>(blocks)),
             std::string(fitting(
                 ui, {fmt::format("block{} of {}", blocks == 1 ? "" : "s", threads), fmt::format("x {} thr.", threads)},
                 {.size = 12}, r.w - 14))},
            {with_commas(static_cast<int64_t>(blocks * ((threads + 31) / 32))), "warps"},
            {with_commas(cycles), "cycles"},
            {fmt::format("{:.3g} µs", us), fmt::format("at {:.4g} GHz", run.gpu.boost_mhz / 1000)}};
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

    // Below the row's name; in a low row beside it.
    void draw_requests(Ui& ui, const ChartRow& row, float y) const {
        const bool low = row_h_ < 34;
        const float x = x_[1] + 10, begin = low ? ui.text(x, y + 5, row.label, {.size = 13}) + 6 : x,
                    room = x_[1] + w_[1] - 8 - begin;
        const std::string count = with_commas(static_cast<int64_t>(row.asked.requests));
        std::string words = count;  // the longest that there is room for
        for (const std::string& one :
             {count + " req",
              row.passes_each() > 1.05 ? fmt::format("{} req, x{:.3g} passes", count, row.passes_each()) : count + " req",
              row.passes_each() > 1.05 ? fmt::format("{} req, {:.3g} passes each", count, row.passes_each())
                                       : count + " req"})
            if (ui.text_width(one, {.size = 12}) <= room) words = one;
        ui.text(low ? x_[1] + w_[1] - 8 : x, low ? y + 5 : y + 17, words,
                {.size = 12, .color = ui.theme->ink2, .align = low ? Align::right : Align::left, .width = room});
    }

    // Down the edge of the column into shared memory: no register holds what cp.async moves.
    void draw_copy(Ui& ui, float y, const model::Link& copied) const {
        const auto shared = std::find_if(chart_.spaces.begin(), chart_.spaces.end(),
                                         [](const ChartSpace& space) { return space.name == "Shared"; });
        if (shared == chart_.spaces.end()) return;
        const float x = x_[1] - 12, end = space_[static_cast<size_t>(shared - chart_.spaces.begin())].y + 16;
        const Color color = sequential(static_cast<float>(copied.percent_of_peak / 100), *ui.theme);
        const Point way[] = {{x_[1], y}, {x, y}, {x, end}, {x_[1] - 6, end}};
        ui.polyline(way, ui.theme->ink3, 5);
        ui.polyline(way, color, 3);
        ui.arrow_head({x_[1], end}, Way::right, ui.theme->ink3, 7);
        ui.text(x - 5, y + 4, bytes_text(static_cast<double>(copied.bytes)), {.size = 12, .align = Align::right});
        const Rect all{x - 6, y - 6, 20, end - y + 12};
        if (ui.hovered(all))
            ui.tooltip(fmt::format("copied into shared memory: {} bytes, {} requests",
                                   with_commas(static_cast<int64_t>(copied.bytes)),
                                   with_commas(static_cast<int64_t>(copied.requests))));
    }

    // A two-part bar with the counts; returns its bottom.
    static float hit_bar(Ui& ui, float x, float y, float w, std::string_view what, uint64_t hits, uint64_t all) {
        const Theme& theme = *ui.theme;
        const double share = all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
        ui.text(x, y, all == 0 ? fmt::format("{}: none asked", what) : fmt::format("{} {}", what, percent(100 * share)),
                {.size = 12, .width = w});
        const Rect bar{x, y + 6, w, 10};
        ui.rect(bar, theme.panel);
        ui.rect({bar.x, bar.y, bar.w * static_cast<float>(share), bar.h}, data::green);
        ui.frame(bar, theme.line);
        const std::string of =
            fmt::format("{} of {}", with_commas(static_cast<int64_t>(hits)), with_commas(static_cast<int64_t>(all)));
        const TextStyle style{.size = 12, .color = theme.ink2};
        if (ui.text_width(of + " sectors", style) <= w) {
            ui.text(x, y + 31, of + " sectors", style);
            return y + 31;
        }
        if (ui.text_width(of, style) <= w) {
            ui.text(x, y + 31, of, style);
            return y + 31;
        }
        ui.text(x, y + 31, with_commas(static_cast<int64_t>(hits)) + " of", style);
        ui.text(x, y + 46, with_commas(static_cast<int64_t>(all)), style);
        return y + 46;
    }

    void draw_l1(Ui& ui, Session& session, const model::KernelRun& run, const Rect& area) {
        const Theme& theme = *ui.theme;
        const Rect r = column(2);
        const bool one_memory = run.gpu.shared_carveouts.value[1] != 0;
        const TextStyle title{.size = 13, .weight = 600};
        box(ui, r,
            one_memory ? fitting(ui, {"L1/TEX + Shared", "L1 + Shared", "L1 + sh."}, title, r.w - 16)
                       : fitting(ui, {"L1/TEX, Shared", "L1, Shared", "L1, sh."}, title, r.w - 16),
            false, 3);
        const float x = r.x + 10, w = r.w - 20;
        const uint64_t total = uint64_t{chart_.l1_bytes} + chart_.shared_bytes;
        ui.text(x, r.y + 38, fmt::format("{} per SM", bytes_text(static_cast<double>(total))),
                {.size = 12, .color = theme.ink2, .width = w});
        hit_bar(ui, x, r.y + 66, w, "load hits", chart_.l1_hits, chart_.l1_sectors);
        if (r.h < 190 || total == 0) return;
        const float y = r.y + std::min(r.h - 60, 190.0f);
        ui.text(x, y - 7, one_memory ? "one SRAM, two uses" : "two memories", {.size = 12, .color = theme.ink2, .width = w});
        const Rect bar{x, y, w, 28};
        const CarveOut carve = one_memory && run.before ? carve_out_of(run, chart_.shared_bytes) : CarveOut();
        const bool moves = carve.sizes.size() > 1;
        if (moves) carve_by_hand(ui, session, carve, bar, static_cast<double>(total), area);
        const bool wished = moves && wish_ >= 0 && static_cast<size_t>(wish_) != carve.at;
        const uint32_t shared = wished ? carve.sizes[static_cast<size_t>(wish_)] : chart_.shared_bytes;
        const auto place = [&](double bytes) { return w * static_cast<float>(1 - bytes / static_cast<double>(total)); };
        const float split = place(shared);
        ui.rect({x, y, split, 28}, mix(theme.panel, theme.accent, 0.3f));
        ui.hatch({x + split, y, w - split, 28}, theme.ink3, Hatch::diagonal);
        ui.frame(bar, theme.line);
        for (const uint32_t size : carve.sizes) ui.rect({x + place(size) - 0.5f, y + 29, 1, 4}, theme.ink3);
        if (wished) ui.dashed({x + place(chart_.shared_bytes) - 2, y - 4, 4, 36}, theme.ink2, 2, 2);
        ui.rect({x + std::clamp(split, 2.0f, w - 2) - 2, y - 4, 4, 36}, wished ? theme.accent : theme.ink);
        const float l1 =
            ui.text(x, y + 47, "L1 " + bytes_text(static_cast<double>(total - shared)), {.size = 12, .color = theme.ink2});
        ui.text(x + w, y + 47, "sh. " + bytes_text(shared),
                {.size = 12, .color = theme.ink2, .align = Align::right, .width = x + w - l1 - 6});
        if (!moves || r.bottom() - y < 74) return;
        if (carve.by_hand && ui.link(x, y + 66, "as the GPU chooses", {.size = 12}))
            session.post({.kind = Request::Kind::carve_out, .index = -1});
        if (!carve.by_hand) ui.text(x, y + 66, "drag the carve-out", {.size = 12, .color = theme.quiet, .width = w});
    }

    // The handle follows the pointer; the kernel runs again where it is let go, or at every arrow.
    void carve_by_hand(Ui& ui, Session& session, const CarveOut& carve, const Rect& bar, double total, const Rect& area) {
        const Rect grip{bar.x - 6, bar.y - 4, bar.w + 12, bar.h + 8};
        const bool focused = ui.enabled && ui.state->focused == ui.state->id_of("carve-out");
        if (focused) ui.state->slider_focused = true;  // the arrows are the handle's
        const auto last = static_cast<int>(carve.sizes.size()) - 1;
        const int now = wish_ >= 0 ? wish_ : static_cast<int>(carve.at);
        const auto ask = [&](int wanted) {
            wish_ = std::clamp(wanted, 0, last);
            if (wish_ != now)
                session.post({.kind = Request::Kind::carve_out,
                              .index = static_cast<int64_t>(carve.sizes[static_cast<size_t>(wish_)])});
        };
        if (focused && ui.pressed(Key::left, area)) return ask(now + 1);  // the handle goes left: more for shared memory
        if (focused && ui.pressed(Key::right, area)) return ask(now - 1);
        if (const Drag drag = ui.drag("carve-out drag", grip); drag.active) {
            const auto at = static_cast<int>(carve.nearest(total * static_cast<double>(1 - (drag.at.x - bar.x) / bar.w)));
            if (drag.ended && at != static_cast<int>(carve.at))
                session.post(
                    {.kind = Request::Kind::carve_out, .index = static_cast<int64_t>(carve.sizes[static_cast<size_t>(at)])});
            wish_ = at;
            ui.animate();
        }
        if (ui.area("carve-out", grip)) ui.animate();
        if (ui.hovered(grip))
            ui.tooltip("more shared memory leaves less L1: drag, or Tab to it and use the arrows;\nthe kernel runs again");
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
        ui.text(
            r.x + 10, r.y + 54,
            fitting(ui, {fmt::format("{} slices", run.gpu.l2_slices.value), fmt::format("{} sl.", run.gpu.l2_slices.value)},
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
        ui.text(r.x + 10, r.y + 54,
                fitting(ui,
                        {fmt::format("{} channels", run.gpu.dram_channels.value),
                         fmt::format("{} ch.", run.gpu.dram_channels.value)},
                        {.size = 12}, r.w - 14),
                {.size = 12, .color = theme.ink2, .width = r.w - 14});
        if (r.h < 180) return;
        const double share = chart_.dram_percent();
        ui.text(r.x + 10, r.y + 100, share < 2 ? percent(share) : fmt::format("{:.0f} %", share),
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

    // From the right edge of column `gap` to the left edge of the next.
    void link(Ui& ui, int gap, float y, const model::Link& one, bool to_left, bool labels) const {
        const Theme& theme = *ui.theme;
        const float x0 = x_[gap] + w_[gap], x1 = x_[gap + 1], middle = (x0 + x1) / 2;
        if (one.bytes == 0) {
            const Point ends[] = {{x0 + 2, y}, {x1 - 2, y}};
            ui.polyline(ends, theme.line, 1, 3, 4);
            return;
        }
        const bool close = row_h_ < share_row;
        const float th = std::min(thickness_of(one.bytes), close ? std::max(2.0f, row_h_ - 25) : 16.0f);
        const Color color = sequential(static_cast<float>(one.percent_of_peak / 100), theme);
        const float head = std::max(close ? 5.0f : 6.0f, th / 2 + (close ? 1.0f : 2.0f));
        const float a = to_left ? x0 + head : x0 + 1, b = to_left ? x1 - 1 : x1 - head;
        // An edge of its own: the colour of little traffic is near the background's.
        ui.rect({a, y - th / 2 - 1, b - a, th + 2}, theme.ink3);
        ui.arrow_head({to_left ? x0 : x1, y}, to_left ? Way::left : Way::right, theme.ink3, head + 2);
        ui.rect({a, y - th / 2, b - a, th}, color);
        // Dashes run the way the data flow.
        const float period = 12;
        float phase = flowing_ ? static_cast<float>(std::fmod(ui.now * 18, period)) : 4.0f;
        if (to_left) phase = period - phase;
        ui.clip({a, y - 2, b - a, 4});
        for (float x = a - period + phase; x < b; x += period) ui.rect({x, y - 1, 6, 2}, faded(theme.panel, 0.8f));
        ui.unclip();
        ui.arrow_head({to_left ? x0 + 1 : x1 - 1, y}, to_left ? Way::left : Way::right, color, head);
        if (ui.hovered({x0, y - 14, x1 - x0, 28})) {
            ui.outline({x0 + 1, y - head, x1 - x0 - 2, 2 * head});
            ui.tooltip(fmt::format("{}: {} bytes, {} requests, {} of peak", one.name,
                                   with_commas(static_cast<int64_t>(one.bytes)),
                                   with_commas(static_cast<int64_t>(one.requests)), percent(one.percent_of_peak)));
        }
        if (!labels) return;
        const std::string bytes = bytes_text(static_cast<double>(one.bytes)), share = percent(one.percent_of_peak);
        if (ui.text_width(bytes, {.size = 12}) <= x1 - x0 + 4)
            ui.text(middle, y - th / 2 - above_, bytes, {.size = 12, .align = Align::center});
        if (row_h_ >= close_row)
            ui.text(middle, y + th / 2 + below_, share, {.size = 12, .color = theme.ink2, .align = Align::center});
    }

    void draw_links(Ui& ui) const {
        size_t row = 0;
        for (size_t s = 0; s < chart_.spaces.size(); ++s) {
            const ChartSpace& space = chart_.spaces[s];
            if (space.rows.empty() && space_[s].h > 0) {
                const float y = space_[s].y + space_[s].h / 2;
                link(ui, 0, y, {}, true, false);
                link(ui, 1, y, {}, true, false);
            }
            for (const ChartRow& one : space.rows) {
                const float y = row_y_[row++];
                if (!one.to_shared) link(ui, 0, y, one.asked, one.to_kernel, true);
                link(ui, 1, y, one.handled, one.to_kernel, true);
            }
        }
        const float first = row_y_.empty() ? all_.y + 60 : row_y_[0];
        const float second = row_y_.size() < 2 ? first + 60 : row_y_[1];
        link(ui, 2, first, chart_.from_l2, true, true);
        link(ui, 2, second, chart_.to_l2, false, true);
        link(ui, 3, first, chart_.dram_read, true, true);
        link(ui, 3, second, chart_.dram_write, false, true);
    }
};

}  // namespace

std::unique_ptr<View> make_chart_view() {
    return std::make_unique<ChartView>();
}

}  // namespace lockstep::gui
