// Two runs on one time axis: A, kept with "Compare" (or named by the lesson), above B, which is on show. One scale for
// both, so that the shorter one ends where it ends; beside them the metrics A, B and the change, whose last rows are the
// legend. W and S or the wheel zoom, A and D or dragging pan, Home shows all, C ends the comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/resident_warps.h"
#include "app/gui/views/timeline/compare_facts.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

using RunPointer = std::shared_ptr<const model::KernelRun>;

constexpr std::string_view same_run =
    "A and B are the same run. Change its resident warps, the GPU or the kernel: what runs next is B.";

struct Pair {
    RunPointer a, b;
};
Pair pair_of(const Session& session) {
    const auto snapshot = session.snapshot();
    const bool lesson = snapshot->kernel.other && session.workspace == Workspace::learn;
    return {session.sm.pinned && !lesson ? session.sm.pinned : snapshot->kernel.other, snapshot->kernel.run};
}
bool has_trace(const RunPointer& run) {
    return run && !run->result.trace.warps.empty();
}

// Of what the two figures for occupancy are: they differ where a scheduler has no warp while its SM has a block.
std::string denominator_of(const CompareRow& row) {
    if (row.chain && (row.label == "active" || row.label == "eligible")) return " while it has any";
    return row.label == "achieved occupancy" ? " while the SM has a block" : "";
}

class CompareView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const Pair pair = pair_of(session);
        if (!has_trace(pair.a) || !has_trace(pair.b)) {
            const Rect body = ui.panel(area, {.title = "Two runs"});
            ui.push_scope("compare");
            draw_header(ui, session, area, nullptr);
            ui.pop_scope();
            if (has_trace(pair.b)) {
                const float wide = 190;
                if (ui.button({body.x + (body.w - wide) / 2, body.y + body.h / 2 + 56, wide, 30}, "Keep this run as A",
                              true))
                    session.sm.pinned = pair.b;
            }
            return ui.say_nothing_yet(body, pair.b ? "No run is kept to compare with." : "No kernel has run yet.",
                                      "Compare (or C) in the picture Warps by cycle keeps a run as A; what runs next is B.");
        }
        adopt(session, pair);
        // In front of a class the table is short: from what an SM can hold to what it selects, then the rest.
        if (std::exchange(chain_first_, session.learn.presented) != session.learn.presented)
            rows_ = ordered(compare_rows(*pair.a, *pair.b), chain_first_);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string sentence = hidden             ? "Both runs stay hidden until you lock an answer."
                                     : pair.a == pair.b ? std::string(same_run)
                                                        : difference_of(*pair.a, *pair.b);
        const Rect body = ui.panel(area, {.title = "Two runs", .badge = Provenance::simulated, .caption = sentence});
        ui.push_scope("compare");
        draw_header(ui, session, area, hidden ? nullptr : pair.b.get());
        keys_ = area;
        if (hidden) {
            ui.dashed(body, ui.theme->ink3);
            ui.text(body.x + body.w / 2, body.y + body.h / 2, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
        } else {
            const bool beside = body.w >= 760;
            const float table = beside ? std::clamp(body.w * 0.46f, 330.0f, 424.0f) : body.w;  // its longest names in full
            const Rect bands{body.x, body.y, beside ? body.w - table - 20 : body.w,
                             beside                    ? body.h
                             : session.learn.presented ? body.h * 0.3f
                                                       : body.h * (body.h < 260 ? 0.62f : 0.5f)};
            draw_bands(ui, session, focus, bands);
            draw_table(ui, beside ? Rect{bands.right() + 20, body.y, table, body.h}
                                  : Rect{body.x, bands.bottom() + 8, body.w, body.h - bands.h - 8});
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const Pair pair = pair_of(session);
        if (!has_trace(pair.a) || !has_trace(pair.b)) return "Two runs: no run is kept to compare with.";
        if (session.learn.reveal_steps >= 0) return "Two runs: hidden until you lock an answer.\n";
        const RunNames names = names_of(*pair.a, *pair.b);
        std::string text = fmt::format("Two runs (simulated)\n  A: {}, {}\n  B: {}, {}\n", names.a, sm_of(*pair.a), names.b,
                                       sm_of(*pair.b));
        for (const CompareRow& row : compare_rows(*pair.a, *pair.b))
            text += fmt::format("  {}{}: A {}, B {} {}{}{}\n", row.chain ? "warps of a scheduler, " : "",
                                row.label + denominator_of(row), row.a_text, row.b_text,
                                row.state ? "% of the resident warps' cycles" : row.unit, row.change.empty() ? "" : ", ",
                                row.change);
        return text + "  " + (pair.a == pair.b ? std::string(same_run) : difference_of(*pair.a, *pair.b)) + "\n";
    }

  private:
    std::shared_ptr<const Timeline> a_ = std::make_shared<const Timeline>(), b_ = a_;
    RunNames names_;
    std::vector<CompareRow> rows_;
    int64_t begin_ = 0, end_ = 1, all_ = 1;
    uint64_t pairs_ = 0;
    uint32_t wished_blocks_ = 0;
    bool panning_ = false, chain_first_ = false;
    int64_t pan_from_ = 0;
    Rect keys_;  // where the pointer gives it the keys: the whole panel

    static std::vector<CompareRow> ordered(std::vector<CompareRow> rows, bool chain_first) {
        if (chain_first) std::stable_partition(rows.begin(), rows.end(), [](const CompareRow& row) { return row.chain; });
        return rows;
    }

    void adopt(const Session& session, const Pair& pair) {
        if (a_->run == pair.a && b_->run == pair.b) return;
        if (a_->run != pair.a) a_ = session.timeline(pair.a);
        if (b_->run != pair.b) b_ = session.timeline(pair.b);
        names_ = names_of(*pair.a, *pair.b);
        rows_ = ordered(compare_rows(*pair.a, *pair.b), chain_first_);
        all_ = std::max<int64_t>({1, a_->cycles, b_->cycles});
        begin_ = 0;
        end_ = all_;
        wished_blocks_ = 0;
        ++pairs_;
    }

    void draw_header(Ui& ui, Session& session, const Rect& area, const model::KernelRun* b) {
        float end = area.right() - 38;
        const auto chip = [&](std::string_view label) {
            float x = end - ui.chip_width(label);
            end = x - 8;
            return ui.chip(x, area.y + 2, label);
        };
        const bool on_page = session.workspace == Workspace::sm && session.sm.page == SmPage::compare;
        if (on_page && chip("Close")) stop(session);
        const std::string keep = "Keep B as A";
        if (b != nullptr && end - ui.chip_width(keep) > area.x + 420 && chip(keep)) session.sm.pinned = b_->run;
        if (b == nullptr || b->before == nullptr) return;
        const ResidentWarps resident = resident_of(*b);
        const std::string words = "B's resident warps",
                          number = resident.number(wished_blocks_ != 0 ? wished_blocks_ : resident.blocks);
        const float left = area.x + 12 + ui.text_width("Two runs", {.size = 14, .weight = 600}) + 22;
        const float need = ui.text_width(words, {.size = 13}) + 130 + ui.text_width(number, {.size = 13, .weight = 600});
        if (resident.most < 2 || left + need > end) return;
        float x = ui.text(left, area.y + 20, words, {.size = 13, .color = ui.theme->ink2}) + 10;
        resident_slider(ui, session, *b, wished_blocks_, {x + 8, area.y + 7, 94, 16});
        ui.text(x + 116, area.y + 20, number, {.size = 13, .weight = 600});
    }

    static void stop(Session& session) {
        session.sm.pinned.reset();
        session.sm.page = SmPage::one_run;
    }

    void show(int64_t begin, int64_t end, float width) {
        const auto least = std::min<int64_t>(all_, std::max<int64_t>(1, static_cast<int64_t>(width / 16)));
        const int64_t length = std::clamp(end - begin, least, all_);
        begin_ = std::clamp<int64_t>(begin, 0, all_ - length);
        end_ = begin_ + length;
    }

    void react(Ui& ui, Session& session, Focus& focus, const Rect& panel, const Rect& picture) {
        const float width = picture.w;
        const TimeAxis axis{begin_, end_, picture.x, width};
        const auto zoom = [&](double factor, int64_t around) {
            const auto length = static_cast<double>(end_ - begin_), left = static_cast<double>(around - begin_);
            const auto wanted = std::max<int64_t>(1, std::llround(length * factor) + (factor > 1 ? 1 : 0));
            const auto begin = around - std::llround(left / length * static_cast<double>(wanted));
            show(begin, begin + wanted, width);
        };
        const int64_t length = end_ - begin_;
        const int64_t middle = focus.time >= begin_ && focus.time < end_ ? focus.time : begin_ + length / 2;
        if (const float notches = ui.wheel(picture); notches != 0) zoom(std::pow(0.8, notches), axis.cycle(ui.mouse.x));
        if (ui.pressed(Key::w, panel)) zoom(0.7, middle);
        if (ui.pressed(Key::s, panel)) zoom(1 / 0.7, middle);
        if (ui.pressed(Key::a, panel))
            show(begin_ - std::max<int64_t>(1, length / 8), end_ - std::max<int64_t>(1, length / 8), width);
        if (ui.pressed(Key::d, panel))
            show(begin_ + std::max<int64_t>(1, length / 8), end_ + std::max<int64_t>(1, length / 8), width);
        if (ui.pressed(Key::home, panel)) show(0, all_, width);
        if (ui.pressed(Key::c, panel) && session.workspace == Workspace::sm) stop(session);
        const Drag drag = ui.drag("pan", picture);
        if (drag.active && std::abs(drag.at.x - drag.from.x) > 4) {
            if (!panning_) pan_from_ = begin_;
            panning_ = true;
            const auto by = static_cast<int64_t>(std::llround((drag.from.x - drag.at.x) / axis.column()));
            show(pan_from_ + by, pan_from_ + by + length, width);
        }
        if (drag.ended) {
            if (!panning_)
                set_clock(
                    session, focus, b_->trace(),
                    std::clamp(axis.cycle(drag.from.x), std::min(begin_, b_->cycles - 1), std::min(end_, b_->cycles) - 1));
            panning_ = false;
        }
    }

    void draw_bands(Ui& ui, Session& session, Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Rect picture{r.x + 30, r.y + 22, r.w - 30, r.h - 22};
        react(ui, session, focus, keys_, picture);
        const TimeAxis axis{begin_, end_, picture.x, picture.w};

        // The ruler.
        ui.text(r.x - 4, r.y + 16, "cycle", {.size = 12, .color = theme.quiet});
        const int64_t step = ruler_step((axis.width < 420 ? 60 : 84) / axis.column());
        for (int64_t t = (begin_ + step - 1) / step * step; t < end_; t += step) {
            const float x = axis.at(t);
            ui.rect({x, r.y + 20, 1, r.h - 20}, theme.grid);
            const float half = ui.text_width(with_commas(t), {.size = 12, .mono = true}) / 2;
            if (x > axis.x + 10 + half && x + half < axis.x + axis.width + 2)
                ui.text(x, r.y + 16, with_commas(t),
                        {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        }
        const float gap = r.h < 200 ? 18 : 26, height = (r.h - 22 - gap) / 2;
        draw_band(ui, axis, *a_, "A", names_.a, {r.x, r.y + 22, r.w, height});
        draw_band(ui, axis, *b_, "B", names_.b, {r.x, r.y + 22 + height + gap, r.w, height});
        draw_difference(ui, axis, {r.x, r.y + 22 + height, r.w, gap});
        if (focus.time >= begin_ && focus.time < end_)  // past the names of the runs
            for (const auto& [top, one] : {std::pair{r.y + 22, a_.get()}, {r.y + 22 + height + gap, b_.get()}})
                ui.cursor_line(axis.at(focus.time), top + head_of(height), top + bottom_of(*one, height));
        if (ui.hovered(picture)) hover(ui, axis, r.y + 22, height, gap);
    }

    // Of a band: the height of its name (none in a low one), and of a row.
    static float head_of(float height) { return height >= 64 ? 20 : 0; }
    static int pitch_of(const Timeline& timeline, float height) {
        const auto rows = static_cast<float>(std::max<size_t>(1, timeline.rows.size()));
        return std::clamp(static_cast<int>((height - head_of(height) - 12) / rows), 1, 28);
    }

    // Where a band's last row ends, counted from its top.
    static float bottom_of(const Timeline& timeline, float height) {
        const auto rows = static_cast<float>(timeline.rows.size());
        return std::min(height, head_of(height) + 12 + rows * static_cast<float>(pitch_of(timeline, height)));
    }

    // What tells the run apart, and whose warps are drawn, in as many words as there is room for.
    static std::string title_of(const Ui& ui, std::string_view name, const model::KernelRun& run, float width) {
        const std::string where = sm_of(run);
        for (const std::string& one : {where, where.substr(0, where.find(';'))})
            if (const std::string all = fmt::format("{}, {}", name, one); ui.text_width(all, {.size = 13}) <= width)
                return all;
        return std::string(name);
    }

    // Name, issue strip and rows of one run, as two pictures whatever is in them.
    void draw_band(Ui& ui, const TimeAxis& axis, const Timeline& timeline, std::string_view letter, std::string_view name,
                   const Rect& r) const {
        const Theme& theme = *ui.theme;
        const float head = head_of(r.h);
        ui.text(r.x, r.y + 14, letter, {.size = 14, .weight = 700});
        if (head > 0)
            ui.text(axis.x, r.y + 14, title_of(ui, name, *timeline.run, axis.width),
                    {.size = 13, .color = theme.ink2, .width = axis.width});
        const auto rows = static_cast<int>(timeline.rows.size());
        const int pitch = pitch_of(timeline, r.h);
        const int width = static_cast<int>(axis.width), tall = std::min(rows * pitch, static_cast<int>(r.h - head - 10));
        if (width <= 0 || tall <= 0) return;
        const uint64_t version = pairs_ * 1000003u + static_cast<uint64_t>(axis.begin) * 31u +
                                 static_cast<uint64_t>(axis.end) * 1000033u + (theme.dark ? 1u : 0u) +
                                 static_cast<uint64_t>(pitch) * 7u;
        const Color background = theme.panel;
        const double cycles_a_pixel = static_cast<double>(axis.end - axis.begin) / width;
        ui.picture(fmt::format("strip {}", letter), version, width, 1, {axis.x, r.y + head, axis.width, 6},
                   [&](std::span<Color> out) {
                       const size_t schedulers = std::max<size_t>(1, timeline.issued_until.size());
                       const auto before = [&](double cycle) {
                           double sum = 0;
                           for (size_t s = 0; s < schedulers; ++s) sum += issued_before(timeline, s, cycle);
                           return sum;
                       };
                       const double slots = cycles_a_pixel * static_cast<double>(schedulers);
                       for (size_t c = 0; c < out.size(); ++c) {
                           const double from = static_cast<double>(axis.begin) + cycles_a_pixel * static_cast<double>(c);
                           const double share = (before(from + cycles_a_pixel) - before(from)) / slots;
                           out[c] = mix(theme.grid, data::green, std::min(1.0f, static_cast<float>(share)));
                       }
                   });
        ui.picture(fmt::format("rows {}", letter), version, width, tall,
                   {axis.x, r.y + head + 8, axis.width, static_cast<float>(tall)}, [&](std::span<Color> out) {
                       const StatePixels pixels(background, 0.9f);
                       std::vector<uint8_t> states(static_cast<size_t>(width));
                       // Where rows are more than pixels, a line shows one of those that share it.
                       const int lines = std::min(rows, tall), thick = rows <= tall ? pitch : 1;
                       for (int line = 0; line < lines; ++line) {
                           const auto row = static_cast<size_t>(rows <= tall ? line : line * rows / tall);
                           dominant_states(timeline, row, axis.begin, axis.end, states);
                           for (int y = line * thick; y < std::min((line + 1) * thick, tall); ++y)
                               for (int x = 0; x < width; ++x) {
                                   const uint8_t state = states[static_cast<size_t>(x)];
                                   const bool edge = state == empty_state || (thick >= 5 && y + 1 == (line + 1) * thick);
                                   out[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)] =
                                       edge ? background : pixels.at(state, x, y);
                               }
                       }
                   });
        if (timeline.cycles < axis.end && timeline.cycles >= axis.begin) {  // where it ends
            const float x = axis.at(timeline.cycles);
            ui.rect({x, r.y + head, 2, 10 + static_cast<float>(tall)}, theme.ink);
            const std::string text = fmt::format("{} ends at {}", letter, with_commas(timeline.cycles));
            if (x + ui.text_width(text, {.size = 12}) + 12 < axis.x + axis.width)
                ui.text(x + 8, r.y + head + 24, text, {.size = 12, .color = theme.ink2});
        }
    }

    // Between the bands: a bracket over what one of them takes longer.
    void draw_difference(Ui& ui, const TimeAxis& axis, const Rect& r) const {
        const int64_t less = std::min(a_->cycles, b_->cycles), more = std::max(a_->cycles, b_->cycles);
        if (less == more || more <= axis.begin || less >= axis.end) return;
        const float x0 = std::max(axis.at(less), axis.x), x1 = std::min(axis.at(more), axis.x + axis.width);
        const float y = r.y + r.h / 2;
        const Color color = b_->cycles < a_->cycles ? ui.theme->right : ui.theme->wrong;
        ui.line({x0, y}, {x1, y}, color, 2);
        ui.line({x0, y - 4}, {x0, y + 4}, color, 2);
        ui.line({x1, y - 4}, {x1, y + 4}, color, 2);
        const TextStyle style{.size = 13, .color = color, .weight = 600};
        std::string text = fmt::format("{} {}", counted(more - less, "cycle"), b_->cycles < a_->cycles ? "fewer" : "more");
        if (const std::string factor = factor_of(*a_->run, *b_->run); !factor.empty())
            if (const std::string both = text + ": " + factor;
                ui.text_width(both, style) + 8 <= std::max(x0 - axis.x, x1 - x0))
                text = both;
        const float width = ui.text_width(text, style);
        ui.text(x0 - width - 8 > axis.x ? x0 - width - 8 : std::min(x0 + 6, axis.x + axis.width - width),
                x0 - width - 8 > axis.x ? y + 5 : y - 5, text, style);
    }

    void hover(Ui& ui, const TimeAxis& axis, float top, float height, float gap) const {
        const bool lower = ui.mouse.y > top + height;
        const Timeline& timeline = lower ? *b_ : *a_;
        const float y = ui.mouse.y - top - (lower ? height + gap : 0) - head_of(height) - 8;
        const auto rows = static_cast<float>(timeline.rows.size());
        const auto pitch = static_cast<float>(pitch_of(timeline, height));
        if (y < 0 || y >= rows * pitch) return;
        const int64_t cycle = axis.cycle(ui.mouse.x);
        const KernelTrace& trace = timeline.trace();
        const int warp = warp_at(trace, timeline.rows[static_cast<size_t>(y / pitch)], cycle);
        if (warp < 0) return;
        const WarpTrack& track = trace.warps[static_cast<size_t>(warp)];
        const WarpState state = state_at(trace, track, cycle);
        if (!state.resident) return;
        // Outlined: its issue, or the whole wait as far as it is in view.
        const int64_t from = state.issue ? cycle : std::max(state.stall->begin, axis.begin);
        const int64_t to = state.issue ? cycle + 1 : std::min(state.stall->end, axis.end);
        const auto row = std::floor(y / pitch);
        const float first = ui.mouse.y - y + row * pitch, x = axis.at(from);
        if (pitch >= 4) ui.outline({x, first, std::max(2.0f, axis.at(to) - x), pitch - 1}, 1);
        ui.tooltip(fmt::format("{}: warp {} of block {}, cycle {}\n{}", lower ? "B" : "A", track.warp_in_block, track.block,
                               with_commas(cycle), row_of(state.reason()).label));
    }

    void draw_table(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        constexpr float heads = 56;  // of all groups, and both ends
        const Rect view{r.x, r.y + 26, r.w + 10, r.h - 26};
        const auto count = static_cast<float>(std::max<size_t>(1, rows_.size()));
        const float row_height =
            std::clamp((view.h - heads) / count, 17.0f, 19.0f);  // a little closer, rather than scrolled
        const float change = r.right(), b = change - 96, a = b - 84, label = r.x + 22;
        ui.text(a, r.y + 16, "A", {.size = 13, .align = Align::right, .weight = 700});
        ui.text(b, r.y + 16, "B", {.size = 13, .align = Align::right, .weight = 700});
        ui.text(change, r.y + 16, "change", {.size = 13, .color = theme.quiet, .align = Align::right});
        ui.line({r.x, r.y + 23}, {r.right(), r.y + 23}, theme.line);
        const float content = row_height * count + heads;
        ui.clip(view);
        float y = view.y + 15 - ui.scroll("table", view, content);
        bool shares = false, chain = false;
        for (const CompareRow& row : rows_) {
            if (row.chain && !chain) {
                chain = true;
                y += 8;
                ui.text(r.x, y, "warps of one scheduler, while it has any: how many ...",
                        {.size = 12, .color = theme.quiet});
                y += row_height;
            }
            if (row.state && !shares) {
                shares = true;
                y += 8;
                ui.text(r.x, y, "share of the resident warps' cycles, %", {.size = 12, .color = theme.quiet});
                y += row_height;
            }
            if (row.state) {
                const Faded faint(ui, code_of(*row.state).hollow || *row.state == StallReason::selected ? 1.0f : 0.75f);
                draw_state(ui, {r.x, y - 10, 16, 12}, *row.state);
            }
            const bool said = row.state || row.chain || (row.unit != "%" && row.unit != "us");  // the name has it already
            const std::string unit = said ? "" : row.unit == "us" ? ", µs" : ", " + row.unit;
            ui.text(row.state ? label : r.x, y, row.label + unit,
                    {.size = 13,
                     .color = theme.ink2,
                     .width = a - ui.text_width(row.a_text, {.size = 13, .mono = true}) - 8 - (row.state ? label : r.x)});
            ui.text(a, y, row.a_text, {.size = 13, .align = Align::right, .mono = true});
            ui.text(b, y, row.b_text, {.size = 13, .align = Align::right, .mono = true});
            ui.text(change, y, row.change,
                    {.size = 12, .color = row.change == "same" ? theme.quiet : theme.ink, .align = Align::right});
            y += row_height;
        }
        ui.unclip();
    }
};

}  // namespace

std::unique_ptr<View> make_compare_view() {
    return std::make_unique<CompareView>();
}

}  // namespace lockstep::gui
