// D2, lanes per issued instruction: one strip of 32 squares an instruction that the focused warp executed. A square in
// its path's colour did work; an outlined one with a dot waits, the dot in the colour of its own path; an x has exited.
// While a prediction is open, what follows stays hidden.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/units.h"
#include "core/ptx/decode/program.h"

namespace lockstep::gui {
namespace {

constexpr float row_pitch = 26;

struct Shown {                              // what may be seen of the history
    size_t from = 0, current = 0, end = 0;  // counted from; the instruction shown; one past the last row
    bool hidden = false;                    // later ones are hidden by a prediction
    size_t through() const { return std::min(current + 1, end); }
};

Shown shown_of(const Session& session, const simt::WarpHistory& history) {
    Shown shown;
    const size_t all = history.steps.size();
    shown.hidden = session.learn.reveal_steps >= 0 && static_cast<size_t>(session.learn.reveal_steps) < all;
    shown.end = shown.hidden ? static_cast<size_t>(session.learn.reveal_steps) : all;
    shown.current =
        std::min(static_cast<size_t>(std::max<int64_t>(0, session.sm.history_step)), shown.end == 0 ? 0 : shown.end - 1);
    shown.from = counting_from(history);
    if (shown.from > shown.current) shown.from = 0;
    return shown;
}

// The history may be of the kernel before this one for a moment.
int32_t line_at(const ptx::Program& program, uint32_t pc) {
    return pc < program.instructions.size() ? program.instructions[pc].line : 0;
}

std::string start_text(const Shown& shown) {
    return shown.from == 0 ? "from its first instruction" : "from the branch on";
}

std::string caption_of(const simt::WarpHistory& history, const Shown& shown) {
    if (shown.end == 0) return "Every issue of this warp stays hidden until you lock an answer.";
    const LaneSums sums = sum_lanes(history, shown.from, shown.through());
    std::string start = shown.from == 0 ? "From the first instruction on" : "From the branch on";
    return fmt::format("{}, {} offered {} lane slots and {} did work: {:.1f} of 32 lanes per issue, {} lane slots idle.",
                       start, counted(sums.issues, "issue"), with_commas(sums.slots()), with_commas(sums.lanes),
                       sums.average(), with_commas(sums.slots() - sums.lanes));
}

class DivergenceView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto history = snapshot->kernel.history;
        if (!history || history->steps.empty() || !snapshot->kernel.run || !snapshot->kernel.run->program) {
            const Rect body = ui.panel(area, {.title = "Divergence: lanes per issued instruction"});
            return ui.say_nothing_yet(body, snapshot->busy.empty() ? "No warp has run yet." : snapshot->busy,
                                      "One row of 32 lanes appears for every instruction that the warp issues.");
        }
        const ptx::Program& program = *snapshot->kernel.run->program;
        const Shown shown = shown_of(session, *history);
        const std::string right =
            fmt::format("warp {} of block {}, {}", history->warp_in_block, history->block, start_text(shown));
        const std::string sentence = caption_of(*history, shown);
        const Rect body = ui.panel(area, {.title = "Divergence: lanes per issued instruction",
                                          .right = right,
                                          .badge = Provenance::derived,
                                          .caption = sentence});
        ui.push_scope("divergence");
        // Columns from the right: average, lanes on, lanes; the instruction has the rest.
        const bool small = body.w < 900, tiny = body.w < 660;
        lane_ = tiny ? 7.0f : small ? 10.0f : 16.0f;
        pitch_ = tiny ? 8.0f : small ? 11.0f : 18.0f;
        group_ = tiny ? 3.0f : small ? 4.0f : 6.0f;
        with_average_ = body.w > 560;
        lanes_x_ = body.right() - (with_average_ ? 134 : 76) - lane_x(31) + lane_x(0) - lane_;
        with_pc_ = lanes_x_ - body.x > 144 + 90;  // else the instruction takes its place
        with_text_ = lanes_x_ - body.x > 104 + 60;
        text_at_ = with_pc_ ? 144.0f : 104.0f;
        with_pc_ = with_pc_ || (!with_text_ && lanes_x_ - body.x > 140);
        // A low panel gives up the scale, then the bar, whose number the caption has; the legend stays.
        const float totals = body.h > 300 ? 104.0f : body.h > 164 ? 68.0f : body.h > 96 ? 24.0f : 0.0f;
        const Rect table{body.x, body.y, body.w, body.h - totals};
        draw_table(ui, session, focus, program, *history, shown, table);
        if (totals > 24 && shown.through() > shown.from)
            draw_totals(ui, *history, shown, {body.x, body.bottom() - totals + 8, body.w, totals - 8});
        if (totals > 0 && shown.through() > shown.from)
            draw_legend(ui, program, *history, shown, body.x, body.bottom() - (totals > 68 ? 16.0f : 6.0f), body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const auto history = snapshot->kernel.history;
        if (!history || history->steps.empty() || !snapshot->kernel.run || !snapshot->kernel.run->program)
            return "Divergence: no warp has run yet.";
        const Shown shown = shown_of(session, *history);
        std::string text = fmt::format("Divergence (derived), warp {} of block {}, {}\n", history->warp_in_block,
                                       history->block, start_text(shown));
        const size_t first = shown.current + 1 > 40 ? shown.current - 39 : 0;
        for (size_t i = first; i < shown.through(); ++i) {
            const simt::WarpStep& step = history->steps[i];
            text += fmt::format("  {} issue {} line {} pc {} {}: {}/32 lanes, {}\n", i == shown.current ? '>' : ' ', i + 1,
                                line_at(*snapshot->kernel.run->program, step.pc), step.pc,
                                ptx::text_of(*snapshot->kernel.run->program, step.pc), lanes_in(step.active),
                                lanes_text(step.active));
        }
        if (shown.hidden) text += "  The issues that follow stay hidden until you lock an answer.\n";
        return text + "  " + caption_of(*history, shown) + "\n";
    }

  private:
    float lane_ = 16, pitch_ = 18, group_ = 6, lanes_x_ = 0;
    bool with_pc_ = true, with_text_ = true, with_average_ = true;  // there is room for the column
    float text_at_ = 144;                                           // where the instruction begins
    size_t seen_ = SIZE_MAX;
    const simt::WarpHistory* seen_history_ = nullptr;

    float lane_x(int lane) const {
        return lanes_x_ + pitch_ * static_cast<float>(lane) + group_ * static_cast<float>(lane / 8);
    }
    float lanes_end() const { return lane_x(31) + lane_; }

    void draw_table(Ui& ui, Session& session, Focus& focus, const ptx::Program& program, const simt::WarpHistory& history,
                    const Shown& shown, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float head = r.y + 12;
        const TextStyle label{.size = 12, .color = theme.ink2},
            label_right{.size = 12, .color = theme.ink2, .align = Align::right};
        ui.text(r.x + 44, head, "issue", label_right);
        ui.text(r.x + 88, head, "line", label_right);
        if (with_pc_) ui.text(r.x + 104, head, "pc", label);
        const float text_x = r.x + text_at_;
        if (with_text_) ui.text(text_x, head, "instruction", label);
        for (const int lane : {0, 8, 16, 24, 31})
            ui.text(lane_x(lane) + lane_ / 2, head, std::to_string(lane),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        ui.text(lanes_end() + 66, head, "lanes on", label_right);
        if (with_average_) ui.text(r.right(), head, "average", label_right);

        const float room = std::max(row_pitch, std::floor((r.bottom() - head - 10) / row_pitch) * row_pitch);
        const Rect rows{r.x, head + 10, r.w + 10, room};  // whole rows only; the bar stands in the padding
        const float note = shown.hidden ? 2 * row_pitch : 0.0f;
        const size_t first = shown.from;
        const auto count = shown.end - std::min(first, shown.end);
        const float content = static_cast<float>(count) * row_pitch + note;
        if (shown.current != seen_ || &history != seen_history_) {  // keep the instruction shown in sight
            seen_ = shown.current;
            seen_history_ = &history;
            const float at = static_cast<float>(shown.current - first) * row_pitch;
            const float lead = shown.hidden && shown.current + 1 == shown.end ? rows.h - row_pitch - note : rows.h * 0.6f;
            ui.scroll_to("rows", std::max(0.0f, at - std::floor(lead / row_pitch) * row_pitch));
        }
        const float offset = ui.scroll("rows", rows, content);
        ui.clip({rows.x - 12, rows.y, rows.w + 14, rows.h});
        const auto begin = first + static_cast<size_t>(offset / row_pitch);
        const size_t end = std::min(shown.end, begin + static_cast<size_t>(rows.h / row_pitch) + 2);
        int64_t lanes = begin > first ? sum_lanes(history, first, begin).lanes : 0;
        for (size_t i = begin; i < end; ++i) {
            const simt::WarpStep& step = history.steps[i];
            const float y = rows.y + static_cast<float>(i - first) * row_pitch - offset;
            lanes += lanes_in(step.active);
            const bool now = i == shown.current;
            const Rect row{r.x - 11, y, r.w + 22, row_pitch};
            if (now) {
                ui.rect(row, theme.selected);
                ui.rect({row.x, y, 3, row_pitch}, theme.accent);
            }
            const When when = now ? When::now : i < shown.current ? When::before : When::later;
            draw_row(ui, program, step, i, static_cast<double>(lanes) / static_cast<double>(i - first + 1), when, y, text_x,
                     r);
            if (ui.clicked({row.x, row.y, row.w - 8, row.h})) {
                session.sm.history_step = static_cast<int64_t>(i);
                session.sm.by_time = false;
                session.grain = Grain::instruction;
                seen_ = i;
                focus.pc = static_cast<int32_t>(step.pc);
                focus.line = line_at(program, step.pc);
                if (const auto cycle = cycle_of(session, focus, i); cycle >= 0) focus.time = cycle;
            }
        }
        if (shown.hidden) {
            const Rect box{rows.x, rows.y + static_cast<float>(count) * row_pitch - offset + 8, r.w, 32};
            ui.dashed(box, theme.ink3);
            ui.text(box.x + box.w / 2, box.y + 21, "The issues that follow stay hidden until you lock an answer.",
                    {.size = 13, .color = theme.ink2, .align = Align::center});
        }
        ui.unclip();
    }

    static int64_t cycle_of(const Session& session, const Focus& focus, size_t step) {
        const auto snapshot = session.snapshot();
        const KernelTrace& trace = snapshot->kernel.run->result.trace;
        if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return -1;
        return cycle_of_step(trace, trace.warps[static_cast<size_t>(focus.warp)], static_cast<int64_t>(step));
    }

    enum class When : uint8_t { before, now, later };  // of a row, as the clock stands

    // What is to come has faint squares; its text is quiet, no fainter: it can be read.
    void draw_row(Ui& ui, const ptx::Program& program, const simt::WarpStep& step, size_t index, double average, When when,
                  float y, float text_x, const Rect& r) {
        const Theme& theme = *ui.theme;
        const bool now = when == When::now, later = when == When::later;
        const Color second = now ? theme.ink : later ? theme.quiet : theme.ink2;
        const float base = y + 18;
        ui.text(r.x + 44, base, with_commas(static_cast<int64_t>(index) + 1),
                {.size = 13, .color = second, .align = Align::right, .mono = true});
        const int32_t line = line_at(program, step.pc);
        if (line > 0)
            ui.text(r.x + 88, base, std::to_string(line),
                    {.size = 13, .color = second, .align = Align::right, .mono = true});
        if (with_pc_) ui.text(r.x + 104, base, std::to_string(step.pc), {.size = 13, .color = theme.quiet, .mono = true});
        if (with_text_) {
            std::string text = ptx::text_of(program, step.pc);
            std::replace(text.begin(), text.end(), '\t', ' ');
            ui.text(text_x, base, text, {.size = 13, .color = second, .mono = true, .width = lanes_x_ - text_x - 12});
        }
        draw_lanes(ui, program, step, y + (row_pitch - lane_) / 2, later ? 0.45f : 1.0f);
        ui.text(lanes_end() + 66, base, fmt::format("{}/32", lanes_in(step.active)),
                {.size = 13, .color = later ? theme.quiet : theme.ink, .align = Align::right, .mono = true});
        if (with_average_)
            ui.text(r.right(), base, fmt::format("{:.1f}", average),
                    {.size = 13, .color = second, .align = Align::right, .weight = now ? 700 : 400, .mono = true});
    }

    void draw_lanes(Ui& ui, const ptx::Program& program, const simt::WarpStep& step, float top, float opacity) {
        const Theme& theme = *ui.theme;
        const Faded faint(ui, opacity);
        const PathCode code = path_code(running_path(step));
        const uint32_t gone = gone_lanes(program, step);
        for (int lane = 0; lane < 32; ++lane) {
            const Rect box{lane_x(lane), top, lane_, lane_};
            if (step.active >> lane & 1) {
                if (code.hatch == Hatch::solid)
                    ui.rect(box, code.color);
                else
                    ui.hatch(box, code.color, code.hatch);
                continue;
            }
            const int path = gone >> lane & 1 ? -1 : path_of_lane(step, lane);
            if (path < 0) {
                const float in = lane_ / 4;
                ui.line({box.x + in, box.y + in}, {box.right() - in, box.bottom() - in}, theme.ink3, 1.2f);
                ui.line({box.x + in, box.bottom() - in}, {box.right() - in, box.y + in}, theme.ink3, 1.2f);
                continue;
            }
            const Color waiting = path_code(static_cast<size_t>(path)).color;
            ui.frame(box, faded(waiting, 0.45f));
            ui.rect({box.x + box.w / 2 - 1.5f, box.y + box.h / 2 - 1.5f, 3, 3}, waiting);
        }
    }

    void draw_totals(Ui& ui, const simt::WarpHistory& history, const Shown& shown, const Rect& r) {
        const Theme& theme = *ui.theme;
        const LaneSums sums = sum_lanes(history, shown.from, shown.through());
        const Rect bar{lanes_x_, r.y + 8, lanes_end() - lanes_x_, 24};
        const float base = bar.y + 17;
        const float number = ui.text(bar.x - 20, base, fmt::format("{:.1f} / 32", sums.average()),
                                     {.size = 20, .align = Align::right, .weight = 700});
        if (const float room = number - r.x - 8; room > 50)
            ui.text(r.x, base, room > 150 ? "lanes active per issue" : "lanes on", {.size = 14, .width = room});
        ui.rect(bar, theme.grid);
        float x = bar.x;
        const float a_slot = bar.w / static_cast<float>(std::max<int64_t>(1, sums.slots()));
        for (const size_t path : sums.order) {
            const float width = static_cast<float>(sums.by_path[path]) * a_slot;
            if (width < 0.5f) continue;
            const PathCode code = path_code(path);
            ui.hatch({x, bar.y, width, bar.h}, code.color, code.hatch);
            std::string label = with_commas(sums.by_path[path]);
            if (path == sums.order.front()) label += " lane slots";
            const float w = ui.text_width(label, {.size = 13, .weight = 600});
            if (w + 14 < width) {
                if (code.hatch != Hatch::solid) ui.rect({x + 4, bar.y + 4, w + 8, 16}, theme.panel, 2);
                ui.text(x + 8, base, label,
                        {.size = 13, .color = code.hatch == Hatch::solid ? text_on(code.color) : theme.ink, .weight = 600});
            }
            x += width;
        }
        ui.frame(bar, theme.line);
        const int64_t idle = sums.slots() - sums.lanes;
        const std::string idle_text = fmt::format("{} idle", with_commas(idle));
        if (bar.right() - x > ui.text_width(idle_text, {.size = 13}) + 16)
            ui.text(bar.right() - 8, base, idle_text, {.size = 13, .color = theme.ink2, .align = Align::right});
        ui.rect({x - 1, bar.y - 4, 2, 32}, theme.ink);
        if (r.h > 80)
            for (const int v : {0, 8, 16, 24, 32}) {
                const float at = bar.x + bar.w * static_cast<float>(v) / 32;
                ui.rect({at - 0.5f, bar.bottom(), 1, 4}, theme.ink3);
                ui.text(at, bar.bottom() + 18, std::to_string(v),
                        {.size = 12,
                         .color = theme.quiet,
                         .align = v == 0    ? Align::left
                                  : v == 32 ? Align::right
                                            : Align::center,
                         .mono = true});
            }
        if (r.right() - bar.right() > 100)
            ui.text(bar.right() + 14, base,
                    fmt::format("{:.0f} % of the slots", 100.0 * static_cast<double>(sums.lanes) /
                                                             static_cast<double>(std::max<int64_t>(1, sums.slots()))),
                    {.size = 13, .color = theme.ink2, .width = r.right() - bar.right() - 14});
    }

    // One entry a path that ran in the rows counted.
    void draw_legend(Ui& ui, const ptx::Program& program, const simt::WarpHistory& history, const Shown& shown, float x,
                     float y, float right) {
        const Theme& theme = *ui.theme;
        std::vector<std::vector<uint32_t>> masks;  // by path, each once, as they first ran
        std::vector<size_t> order;                 // in which the paths first ran, as in the bar
        uint32_t gone = 0, waited = 0, returned = 0;
        for (size_t i = shown.from; i < shown.through(); ++i) {
            const size_t path = running_path(history.steps[i]);
            if (masks.size() <= path) masks.resize(path + 1);
            if (masks[path].empty()) order.push_back(path);
            if (std::find(masks[path].begin(), masks[path].end(), history.steps[i].active) == masks[path].end())
                masks[path].push_back(history.steps[i].active);
            const uint32_t off = gone_lanes(program, history.steps[i]);
            gone |= off;
            returned |= off & ~history.steps.front().exited;
            waited |= ~(history.steps[i].active | off);
        }
        for (const size_t path : order) {
            const PathCode code = path_code(path);
            const bool all = std::find(masks[path].begin(), masks[path].end(), simt::full_mask) != masks[path].end();
            const std::string name = path > 0 ? lanes_of_path(masks[path])
                                     : all    ? "all lanes together"
                                              : "all lanes that are left";
            if (x + 24 + ui.text_width(name, {.size = 13}) > right) return;
            x = ui.legend(x, y, code.color, code.hatch, name);
        }
        std::string_view off;  // the longest that there is room for
        for (const std::string_view words : {"waits", "off: it waits", "lane off: it waits for another path"})
            if (x + 24 + ui.text_width(words, {.size = 13}) <= right) off = words;
        if (waited != 0 && !off.empty()) {
            ui.frame({x, y - 11, 14, 14}, theme.ink3);
            ui.rect({x + 5.5f, y - 5.5f, 3, 3}, theme.ink3);
            x = ui.text(x + 20, y, off, {.size = 13, .color = theme.ink2}) + 24;
        }
        if (gone == 0 || x + 80 > right) return;
        ui.line({x + 3, y - 8}, {x + 11, y}, theme.ink3, 1.2f);
        ui.line({x + 3, y}, {x + 11, y - 8}, theme.ink3, 1.2f);
        ui.text(x + 20, y, returned == 0 ? "no thread" : "returned", {.size = 13, .color = theme.ink2});
    }
};

}  // namespace

std::unique_ptr<View> make_divergence_view() {
    return std::make_unique<DivergenceView>();
}

}  // namespace lockstep::gui
