// One warp at one cycle: what it waits for and for how long, and its registers: one as a strip of 32 lanes, several as
// a table. A register that is still on its way is hatched: the warp may not read it before the cycle in "ready".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/sm/warp_facts.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float least_with_chips = 190;  // high: of the panel's body
constexpr int lanes_listed[] = {0, 1, 2, 31};
// As many of them as there is room for, the last one always, and the lane that is followed.
std::vector<int> lanes_in_table(float room, int followed) {
    std::vector<int> lanes = room >= 4 * 64   ? std::vector<int>{0, 1, 2, 31}
                             : room >= 3 * 64 ? std::vector<int>{0, 1, 31}
                                              : std::vector<int>{0, 31};
    if (followed >= 0 && followed < 32 && std::find(lanes.begin(), lanes.end(), followed) == lanes.end())
        lanes[lanes.size() > 2 ? lanes.size() - 2 : 1] = followed;
    return lanes;
}

// Of 32 bits or fewer, and no float: large ones are masks more often than counts.
bool is_whole(ptx::Type type) {
    return type == ptx::Type::u32 || type == ptx::Type::s32 || type == ptx::Type::b32;
}

struct Facts {
    const WarpTrack* warp = nullptr;
    WarpState state;
    Wait wait;
    std::string sentence, progress;
    double share = -1;  // of the wait that is over
};

// The warp whose access, or whatever it was, stopped the kernel.
bool stopped_at(const model::KernelRun& run, const WarpTrack& warp) {
    if (!run.result.fault) return false;
    const simt::Fault& fault = *run.result.fault;
    const simt::Dim3 &grid = run.config.grid, &block = run.config.block;
    const auto linear = [](const simt::Dim3& at, const simt::Dim3& of) {
        return at.x + uint64_t{of.x} * (at.y + uint64_t{of.y} * at.z);
    };
    return warp.block == linear(fault.block, grid) && warp.warp_in_block == linear(fault.thread, block) / 32;
}

Facts facts_of(const Timeline& timeline, const Focus& focus) {
    Facts facts;
    const KernelTrace& trace = timeline.trace();
    if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return facts;
    facts.warp = &trace.warps[static_cast<size_t>(focus.warp)];
    facts.state = state_at(trace, *facts.warp, focus.time);
    if (!facts.state.resident) {
        facts.sentence = focus.time < facts.warp->begin ? fmt::format("Starts at cycle {}", with_commas(facts.warp->begin))
                                                        : fmt::format("Ended at cycle {}", with_commas(facts.warp->end));
    } else if (trace.cycles > 0 && focus.time + 1 >= trace.cycles && stopped_at(*timeline.run, *facts.warp)) {
        facts.sentence = stop_text(*timeline.run);
        facts.sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(facts.sentence[0])));
    } else if (facts.state.issue) {
        facts.sentence = fmt::format("Issues {}", operation_of(*timeline.run->program, facts.state.issue->pc));
        if (focus.line > 0)
            facts.sentence += fmt::format(" of line {}", timeline.run->program->instructions[facts.state.issue->pc].line);
    } else {
        facts.wait = wait_of(timeline, static_cast<uint32_t>(focus.warp), *facts.state.stall);
        facts.sentence = facts.wait.sentence;
        const int64_t all = std::max<int64_t>(1, facts.wait.end - facts.wait.begin), over = focus.time - facts.wait.begin;
        facts.share = std::clamp(static_cast<double>(over) / static_cast<double>(all), 0.0, 1.0);
        facts.progress = fmt::format("{} of {}", with_commas(over), counted(all, "cycle"));
    }
    return facts;
}

uint32_t lanes_on(const Snapshot& snapshot, int64_t step) {
    if (!snapshot.kernel.history || step < 0 || step >= static_cast<int64_t>(snapshot.kernel.history->steps.size()))
        return simt::full_mask;
    return snapshot.kernel.history->steps[static_cast<size_t>(step)].active;
}

// Lanes that the warp began with: the others of a block that ends within the warp never hold anything.
uint32_t lanes_begun(const Snapshot& snapshot) {
    return snapshot.kernel.history && !snapshot.kernel.history->steps.empty() ? snapshot.kernel.history->steps.front().active
                                                                              : simt::full_mask;
}

// An open question asks how many lanes are on: nothing says it then.
bool asks_for_lanes(const Session& session) {
    return asks_for(session, "lanes");
}

// While a question asks which lanes are on, no predicate tells it, and in an exam no register: the condition is in them.
std::vector<RegisterRow> rows_told(const Session& session, const Timeline& timeline, const WarpTrack& warp, int64_t step,
                                   const std::vector<simt::LaneValues>& lanes) {
    std::vector<RegisterRow> rows = registers_shown(timeline, warp, step, lanes, 12);
    if (!asks_for_lanes(session)) return rows;
    const ptx::Program& program = *timeline.run->program;
    std::erase_if(rows, [&](const RegisterRow& row) {
        return session.lesson.holds_back() || type_of_use(program, lanes[row.lane_values].reg) == ptx::Type::pred;
    });
    return rows;
}

// The history shown belongs to the focused warp (it may lag behind while the worker makes it).
bool history_matches(const Snapshot& snapshot, const WarpTrack& warp) {
    return snapshot.kernel.history && snapshot.kernel.history->block == warp.block &&
           snapshot.kernel.history->warp_in_block == warp.warp_in_block;
}

class WarpView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (snapshot->kernel.run && timeline_->run != snapshot->kernel.run)
            timeline_ = session.timeline(snapshot->kernel.run);
        if (!snapshot->kernel.run || focus.warp < 0 || focus.warp >= static_cast<int32_t>(timeline_->trace().warps.size()) ||
            focus.time < 0) {
            const Rect body = ui.panel(area, {.title = "Warp"});
            return ui.say_nothing_yet(body, snapshot->kernel.run ? "No warp is chosen." : "No kernel has run yet.",
                                      snapshot->kernel.run ? "Click a row of the warp timeline."
                                                           : "A warp's registers appear here, lane by lane.");
        }
        const Facts facts = facts_of(*timeline_, focus);
        const bool fits = history_matches(*snapshot, *facts.warp);
        const int64_t step = snapshot->kernel.lanes_step;
        const auto rows = fits && snapshot->kernel.lanes
                              ? rows_told(session, *timeline_, *facts.warp, step, *snapshot->kernel.lanes)
                              : std::vector<RegisterRow>{};
        if (!rows.empty()) choose(rows, *snapshot, focus.time);
        begun_ = fits ? lanes_begun(*snapshot) : simt::full_mask;
        read_ = fits && snapshot->kernel.lanes;
        const std::string title = fmt::format("Warp {} of block {}", facts.warp->warp_in_block, facts.warp->block);
        lanes_hidden_ = asks_for_lanes(session);
        hidden_ = session.learn.reveal_steps == 0;
        std::string right = fmt::format("scheduler {}", facts.warp->scheduler);
        if (!lanes_hidden_ && !hidden_ && facts.state.resident)
            right += fmt::format(", {} of 32 lanes on", fits ? lanes_in(lanes_on(*snapshot, session.sm.history_step)) : 32);
        const std::string sentence = caption(*snapshot, rows, focus);
        const Rect body =
            ui.panel(area, {.title = title, .right = right, .badge = Provenance::simulated, .caption = sentence});
        ui.push_scope("warp");
        paint(ui, *snapshot, focus, facts, rows, body);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) return "Warp: no kernel has run yet.";
        const std::shared_ptr<const Timeline> shared = session.timeline(snapshot->kernel.run);
        const Timeline& timeline = *shared;
        const Facts facts = facts_of(timeline, focus);
        if (!facts.warp) return "Warp: none is chosen.";
        std::string text = fmt::format("Warp {} of block {} (simulated), scheduler {}, slot {}, cycle {}\n  {}{}{}\n",
                                       facts.warp->warp_in_block, facts.warp->block, facts.warp->scheduler, facts.warp->slot,
                                       focus.time, facts.sentence, facts.progress.empty() ? "" : ", ", facts.progress);
        if (!snapshot->kernel.lanes || !history_matches(*snapshot, *facts.warp)) return text;
        const ptx::Program& program = *snapshot->kernel.run->program;
        const uint32_t begun = lanes_begun(*snapshot);
        const bool hidden = asks_for_lanes(session) && begun != simt::full_mask;
        for (const RegisterRow& row :
             rows_told(session, timeline, *facts.warp, snapshot->kernel.lanes_step, *snapshot->kernel.lanes)) {
            const simt::LaneValues& values = (*snapshot->kernel.lanes)[row.lane_values];
            text += fmt::format("  {} ({}):", row.name, row.holds);
            if (row.ready > focus.time)
                text += fmt::format(" on its way, ready at {}", row.ready);
            else
                for (int lane : lanes_listed) {
                    const bool there = (begun >> lane & 1) != 0;
                    if (hidden && lane != 0) continue;
                    text += fmt::format(" lane {} {}", lane,
                                        there ? text_of(values.bits[lane], type_of_use(program, values.reg)) : "none");
                }
            text += '\n';
        }
        return text;
    }

  private:
    std::shared_ptr<const Timeline> timeline_ = std::make_shared<const Timeline>();
    std::string chosen_;                          // register in the strip
    bool picked_ = false;                         // by the learner
    bool lanes_hidden_ = false, hidden_ = false;  // by an open prediction: how many lanes are on; everything
    bool read_ = false;                           // the registers are here, though none may have a value yet
    uint32_t begun_ = simt::full_mask;            // lanes that the warp began with

    bool hides_lanes() const { return lanes_hidden_ && begun_ != simt::full_mask; }

    // What the learner picked, as long as it is shown; else the first that is there and a number: addresses and
    // predicates make a dull strip.
    void choose(const std::vector<RegisterRow>& rows, const Snapshot& snapshot, int64_t cycle) {
        const bool there = std::any_of(rows.begin(), rows.end(), [&](const RegisterRow& r) { return r.name == chosen_; });
        if (there && picked_) return;
        picked_ = false;
        chosen_ = rows.empty() ? std::string{} : rows.front().name;
        int best = -1;
        constexpr size_t within_view = 5;  // chips and lines of a low panel
        for (size_t i = 0; i < std::min(rows.size(), within_view); ++i) {
            const RegisterRow& row = rows[i];
            const ptx::Type type = type_of_use(*snapshot.kernel.run->program, (*snapshot.kernel.lanes)[row.lane_values].reg);
            const bool real = type == ptx::Type::f16x2 || type == ptx::Type::bf16x2 || type == ptx::Type::f32 ||
                              type == ptx::Type::f64 || type == ptx::Type::f16 || type == ptx::Type::bf16;
            const int worth = row.ready > cycle ? 0 : real ? 3 : type == ptx::Type::b64 || type == ptx::Type::pred ? 1 : 2;
            if (worth > best) best = worth, chosen_ = row.name;
        }
    }

    struct Span {
        double low = INFINITY, high = -INFINITY;
        double upper_low = INFINITY, upper_high = -INFINITY;  // of packed registers: the upper half's
        ptx::Type type = ptx::Type::none;
        const simt::LaneValues* values = nullptr;
        const RegisterRow* row = nullptr;

        bool packed() const { return type == ptx::Type::f16x2 || type == ptx::Type::bf16x2; }
        bool same() const { return low == high && (!packed() || upper_low == upper_high); }
    };
    Span strip(const Snapshot& snapshot, const std::vector<RegisterRow>& rows) const {
        Span span;
        for (const RegisterRow& row : rows)
            if (row.name == chosen_) span.row = &row;
        if (!span.row) return span;
        span.values = &(*snapshot.kernel.lanes)[span.row->lane_values];
        span.type = type_of_use(*snapshot.kernel.run->program, span.values->reg);
        for (int lane = 0; lane < 32; ++lane) {
            const uint64_t bits = span.values->bits[lane];
            const double v = span.type == ptx::Type::b64 ? static_cast<double>(bits) : number_of(bits, span.type);
            if (!std::isfinite(v) || !(begun_ >> lane & 1)) continue;
            span.low = std::min(span.low, v);
            span.high = std::max(span.high, v);
            if (!span.packed()) continue;
            const double upper = number_of(bits >> 16 & 0xffff, span.type);
            span.upper_low = std::min(span.upper_low, upper);
            span.upper_high = std::max(span.upper_high, upper);
        }
        return span;
    }
    static std::string value_text(double value, ptx::Type type) {
        if (type == ptx::Type::b64) return text_of(static_cast<uint64_t>(value), type);
        if (is_whole(type) && std::abs(value) >= 1e7)
            return fmt::format("0x{:08x}", static_cast<uint32_t>(std::llround(value)));
        if (value == std::floor(value) && std::abs(value) < 1e7) return with_commas(std::llround(value));
        return std::abs(value) >= 1e6 || (value != 0 && std::abs(value) < 1e-3) ? fmt::format("{:.2e}", value)
                                                                                : fmt::format("{:.4g}", value);
    }

    std::string caption(const Snapshot& snapshot, const std::vector<RegisterRow>& rows, const Focus& focus) const {
        const Span span = strip(snapshot, rows);
        if (!span.row && hidden_) return "No instruction of this warp may be seen until you lock an answer.";
        if (!span.row && lanes_hidden_) return "The registers stay hidden until you have answered which lanes are on.";
        if (!span.row && read_) return "No register of this warp has a value yet.";
        if (!span.row) return snapshot.busy.empty() ? "The registers of this warp are being read." : snapshot.busy;
        const std::string what =
            span.row->holds.empty() ? span.row->name : fmt::format("{} ({})", span.row->name, span.row->holds);
        if (span.row->ready > focus.time)
            return fmt::format("{} is on its way until cycle {}.", what, with_commas(span.row->ready));
        if (!(span.low <= span.high)) return fmt::format("{} holds no number in any lane.", what);
        if (hides_lanes()) return "What the other lanes hold stays hidden until you have answered.";
        const int lanes = lanes_in(begun_);
        const auto both = [&](const std::string& lower, const std::string& upper) {  // as the table writes packed ones
            return span.packed() ? lower + " | " + upper : lower;
        };
        const std::string low = both(value_text(span.low, span.type), value_text(span.upper_low, span.type));
        if (lanes == 1) return fmt::format("{} holds {} in the warp's one lane; the others have no thread.", what, low);
        const std::string those = lanes == 32 ? "32 lanes" : fmt::format("the {} lanes that have a thread", lanes);
        if (span.same()) return fmt::format("{} holds {} in all {}{}.", what, low, lanes == 32 ? "" : "of ", those);
        const auto range = [&](double from, double to) {
            return value_text(from, span.type) + " to " + value_text(to, span.type);
        };
        return fmt::format("{}: {} over {}.", what, both(range(span.low, span.high), range(span.upper_low, span.upper_high)),
                           those);
    }

    void paint(Ui& ui, const Snapshot& snapshot, Focus& focus, const Facts& facts, const std::vector<RegisterRow>& rows,
               const Rect& body) {
        const Theme& theme = *ui.theme;
        const float left =
            ui.text(body.right(), body.y + 10, facts.progress, {.size = 13, .color = theme.ink2, .align = Align::right});
        ui.text(body.x, body.y + 10, facts.sentence,
                {.size = 13, .weight = 600, .width = (facts.progress.empty() ? body.right() : left - 12) - body.x});
        const Rect bar{body.x, body.y + 18, body.w, 8};
        ui.rect(bar, theme.grid);
        if (facts.share >= 0)
            draw_state(ui, {bar.x, bar.y, bar.w * static_cast<float>(facts.share), bar.h}, facts.state.reason());
        else if (facts.state.issue)
            ui.rect(bar, data::green);
        ui.frame(bar, theme.line);
        if (rows.empty()) {
            ui.text(body.x, body.y + 52,
                    hidden_ || lanes_hidden_ ? "Hidden until you lock an answer."
                    : read_                  ? "No register has a value yet."
                    : snapshot.busy.empty()  ? "Its registers are being read ..."
                                             : snapshot.busy,
                    {.size = 13, .color = theme.ink2});
            return;
        }
        const Span span = strip(snapshot, rows);
        const bool pending = span.row && span.row->ready > focus.time;
        const uint32_t on = lanes_hidden_ ? simt::full_mask : lanes_on(snapshot, snapshot.kernel.lanes_step);
        if (body.h < least_with_chips) {  // a low panel is for the table, whose rows choose as the chips do
            draw_strip(ui, span, pending, on, focus, {body.x, body.y + 34, body.w, 16});
            return draw_table(ui, snapshot, rows, focus, {body.x, body.y + 68, body.w, body.h - 68}, true);
        }
        const float scale_width = 190;
        float x = body.x;
        bool chosen = std::none_of(rows.begin(), rows.end(), [&](const RegisterRow& r) { return r.name == chosen_; });
        for (const RegisterRow& row : rows) {  // the one that the strip shows always has its chip
            const float wanted = chosen || row.name == chosen_ ? 0 : ui.chip_width(chosen_) + 8;
            if (row.name != chosen_ && x + ui.chip_width(row.name) + wanted > body.right() - scale_width) continue;
            chosen = chosen || row.name == chosen_;
            if (ui.chip(x, body.y + 36, row.name, row.name == chosen_)) {
                chosen_ = row.name;
                picked_ = true;
            }
        }
        draw_strip(ui, span, pending, on, focus, {body.x, body.y + 70, body.w, 24});
        if (span.row && !pending && span.low < span.high) {  // the colour scale
            const float sx = body.right() - 8 * 8 - 62;
            for (int i = 0; i < 8; ++i)
                ui.rect({sx + 8.0f * static_cast<float>(i), body.y + 44, 8, 12},
                        sequential(static_cast<float>(i) / 7, theme));
            // An address keeps the digits in which lanes differ.
            const auto end_of_scale = [&](double value) {
                const std::string text = value_text(value, span.type);
                return (span.type == ptx::Type::b64 || text.starts_with("0x")) && text.size() > 7
                           ? "…" + text.substr(text.size() - 6)
                           : text;
            };
            ui.text(sx - 6, body.y + 54, end_of_scale(span.low),
                    {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true, .width = sx - 10 - x});
            ui.text(sx + 70, body.y + 54, end_of_scale(span.high),
                    {.size = 12, .color = theme.ink2, .mono = true, .width = 58});
        }
        draw_table(ui, snapshot, rows, focus, {body.x, body.y + 120, body.w, body.h - 120}, false);
    }

    void draw_strip(Ui& ui, const Span& span, bool pending, uint32_t on, Focus& focus, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const float pitch = (r.w - 8) / 32;
        for (int lane = 0; lane < 32; ++lane) {
            const Rect cell{r.x + pitch * static_cast<float>(lane) + 2.5f * static_cast<float>(lane / 8), r.y, pitch - 1.25f,
                            r.h};
            const bool there = hides_lanes() ? lane == 0 : (begun_ >> lane & 1) != 0;
            if (!there) {
                if (hides_lanes()) ui.hatch(cell, theme.line, Hatch::diagonal);
                ui.frame(cell, theme.line);
            } else if (pending || !span.values) {
                draw_state(ui, cell, span.row ? span.row->waits : StallReason::long_scoreboard);
            } else {
                const double v = span.type == ptx::Type::b64 ? static_cast<double>(span.values->bits[lane])
                                                             : number_of(span.values->bits[lane], span.type);
                const double range = span.high - span.low;
                if (std::isfinite(v))
                    ui.rect(cell, sequential(range > 0 ? static_cast<float>((v - span.low) / range) : 0.5f, theme));
                else
                    ui.hatch(cell, data::vermillion, Hatch::cross);
            }
            if (there && !(on >> lane & 1)) ui.rect({cell.x, cell.y, cell.w, 3}, theme.panel);
            if (lane == focus.lane) ui.outline(cell);
            if (lane % 8 == 0 || lane == 31)
                ui.text(cell.x + cell.w / 2, r.bottom() + 14, std::to_string(lane),
                        {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
            if (ui.hovered(cell) && !there)
                ui.tooltip(hides_lanes() ? "hidden until a question is answered"
                                         : fmt::format("lane {} has no thread", lane));
            else if (ui.hovered(cell) && span.values && !pending)
                ui.tooltip(fmt::format("lane {}: {} = {}{}", lane, chosen_, text_of(span.values->bits[lane], span.type),
                                       on >> lane & 1 ? "" : " (lane off)"));
            if (ui.clicked(cell)) focus.lane = lane;
        }
    }

    void draw_table(Ui& ui, const Snapshot& snapshot, const std::vector<RegisterRow>& rows, const Focus& focus,
                    const Rect& r, bool low) {
        const Theme& theme = *ui.theme;
        const float pitch = low ? 17 : 19;
        const ptx::Program& program = *snapshot.kernel.run->program;
        if (r.h < 40) return;
        int64_t latest = 0;  // cycle to be said
        for (const RegisterRow& row : rows)
            if (row.ready > focus.time) latest = std::max(latest, row.ready);
        const float digits = ui.text_width(with_commas(latest), {.size = 12, .mono = true});
        const float holds_at = r.x + 52, ready_width = std::max(52.0f, digits + 10),
                    first = r.x + std::max(150.0f, r.w * 0.27f);
        const std::vector<int> listed = lanes_in_table(r.right() - ready_width - first, focus.lane);
        const float column = (r.right() - ready_width - first) / static_cast<float>(listed.size());
        const float head = r.y + 12;
        ui.text(r.x, head, "reg", {.size = 12, .color = theme.quiet});
        ui.text(holds_at, head, "holds", {.size = 12, .color = theme.quiet});
        for (size_t i = 0; i < listed.size(); ++i)
            ui.text(first + column * static_cast<float>(i + 1), head, fmt::format("lane {}", listed[i]),
                    {.size = 12,
                     .color = listed[i] == focus.lane ? theme.ink : theme.quiet,
                     .align = Align::right,
                     .weight = listed[i] == focus.lane ? 600 : 400});
        ui.text(r.right(), head, "ready", {.size = 12, .color = theme.quiet, .align = Align::right});
        ui.line({r.x, head + 6}, {r.right(), head + 6}, theme.line);
        float y = head + 22;
        for (const RegisterRow& row : rows) {
            if (y > r.bottom() + (low ? 3 : 8)) break;
            const simt::LaneValues& values = (*snapshot.kernel.lanes)[row.lane_values];
            const ptx::Type type = type_of_use(program, values.reg);
            const bool pending = row.ready > focus.time, on = row.name == chosen_;
            const Rect line{r.x - 4, y - 13.5f, r.w + 8, pitch};
            if (on) ui.rect(line, theme.selected, 2);
            if (low ? ui.area(row.name, line) : ui.clicked(line)) chosen_ = row.name, picked_ = true;
            ui.text(r.x, y, row.name, {.size = 12, .mono = true, .width = 50});
            ui.text(holds_at, y, row.holds, {.size = 13, .color = theme.ink2, .width = first - holds_at - 4});
            for (size_t i = 0; i < listed.size(); ++i) {
                const float right = first + column * static_cast<float>(i + 1);
                if (hides_lanes() ? listed[i] != 0 : !(begun_ >> listed[i] & 1))
                    ui.text(right, y, hides_lanes() ? "?" : "none",
                            {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
                else if (pending)
                    draw_state(ui, {right - 44, y - 10, 44, 12}, row.waits);
                else
                    ui.text(right, y, short_value(values.bits[listed[i]], type, column),
                            {.size = 12, .align = Align::right, .mono = true});
            }
            ui.text(r.right(), y, pending ? with_commas(row.ready) : "yes",
                    {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
            y += pitch;
        }
        draw_key(ui, rows, focus, {r.x, y - 4, r.w, r.bottom() - y + 4});
    }

    // What the hatches in the table stand for, where there is room under it.
    static void draw_key(Ui& ui, const std::vector<RegisterRow>& rows, const Focus& focus, const Rect& r) {
        if (r.h < 20) return;
        float x = r.x;
        for (const StallReason reason : {StallReason::long_scoreboard, StallReason::short_scoreboard, StallReason::wait}) {
            const bool there = std::any_of(rows.begin(), rows.end(), [&](const RegisterRow& row) {
                return row.waits == reason && row.ready > focus.time;
            });
            const std::string name = fmt::format("on its way: {}", row_of(reason).label);
            if (!there || x + 24 + ui.text_width(name, {.size = 12}) > r.right()) continue;
            draw_state(ui, {x, r.y + 5, 18, 11}, reason);
            x = ui.text(x + 24, r.y + 15, name, {.size = 12, .color = ui.theme->ink2}) + 16;
        }
    }

    // An address keeps its last digits, where lanes differ; a float its first ones.
    static std::string short_value(uint64_t bits, ptx::Type type, float column) {
        std::string text = text_of(bits, type);
        const auto most = static_cast<size_t>(std::max(3.0f, (column - 8) / 7.2f));
        if (text.size() <= most) return text;
        if (type == ptx::Type::b64 || type == ptx::Type::u64) return "…" + text.substr(text.size() - most + 1);
        if (type == ptx::Type::f16x2 || type == ptx::Type::bf16x2) {
            const ptx::Type half = type == ptx::Type::f16x2 ? ptx::Type::f16 : ptx::Type::bf16;
            text = fmt::format("{:.2g}|{:.2g}", number_of(bits, half), number_of(bits >> 16, half));
            return text.size() <= most ? text : text.substr(0, text.find('|') + 1) + "…";
        }
        if (is_whole(type)) {
            const std::string hex = fmt::format("0x{:x}", bits & 0xffffffffu);
            return hex.size() <= most ? hex : "…" + hex.substr(hex.size() - most + 1);
        }
        return fmt::format("{:.2g}", number_of(bits, type));
    }
};

}  // namespace

std::unique_ptr<View> make_warp_view() {
    return std::make_unique<WarpView>();
}

}  // namespace lockstep::gui
