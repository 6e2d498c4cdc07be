// D1, warps by cycle: a row a resident warp, grouped by scheduler, a column a cycle; below, how many warps are in each
// state. A click on a cell moves every view; on a wait it shows what the warp waits for. W and S or the wheel zoom, A
// and D or dragging pan, Up and Down choose the warp, Enter goes to the instruction waited for and back, Home shows
// everything. The slider runs the kernel again with fewer resident warps; V: numbers of the cycles in view or of the
// whole kernel; C keeps this run, to compare others with it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/gui/view.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/sm/resident_warps.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "app/gui/views/timeline/warps_words.h"

namespace lockstep::gui {
namespace {

constexpr float plain_column = 8, widest_column = 24;

class WarpsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || snapshot->kernel.run->result.trace.warps.empty()) {
            const Rect body = ui.panel(area, {.title = "Warps by cycle"});
            const std::string hint =
                idle_sm(*snapshot) ? "Blocks on SMs shows which of them had one: click a tile there."
                                   : "Run a lesson's scene, your own kernel (key 7), or open a kernel of the training step.";
            return ui.say_nothing_yet(body, nothing_of(*snapshot), snapshot->busy.empty() ? hint : snapshot->busy);
        }
        const bool fresh = adopt(session, snapshot->kernel.run);
        const float width = axis_width(area.w - 24);
        settle_window(session, focus, width, fresh);
        keep_whole(session, fresh);
        if (std::exchange(session.sm.wants_whole, false)) show_whole(session, true);
        follower_.follow(*timeline_, focus);
        const int64_t hidden = revealed_until(session, focus, timeline_->trace());
        sums_for(session, hidden);

        const bool cut = sums_.begin > session.sm.cycles_begin || sums_.end < std::min(session.sm.cycles_end, hidden);
        const std::string sentence = caption_of(*timeline_, sums_, focus, hidden, session.sm.whole, cut);
        const KernelTrace& trace = timeline_->trace();
        const std::string right =
            hidden != INT64_MAX ? fmt::format("SM {}", trace.sm)
                                : fmt::format("SM {} of {}, cycles {} to {}", trace.sm, timeline_->run->gpu.sms.value,
                                              with_commas(session.sm.cycles_begin), with_commas(session.sm.cycles_end - 1));
        const Rect body = ui.panel(area, {.title = "Warps by cycle", .badge = Provenance::simulated, .caption = sentence});
        ui.push_scope("warps");
        draw_header(ui, session, area, right, hidden == INT64_MAX);
        TimelinePlaces places = place_timeline(ui, *timeline_, sums_, session, body, hidden);
        react(ui, session, focus, places);
        places.axis.begin = session.sm.cycles_begin;
        places.axis.end = session.sm.cycles_end;
        places.letters = places.axis.column() >= plain_column - 0.01f && places.pitch >= 14;
        const bool afar = !timeline_->kept(session.sm.cycles_begin) || !timeline_->kept(session.sm.cycles_end - 1);
        places.texture = afar || (places.axis.column() < 6 && estimated_quads(session) > 5000 && hidden == INT64_MAX);
        paint(ui, focus, places);
        if (places.list.h > 0) list_.draw(ui, session, focus, *timeline_, places);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || snapshot->kernel.run->result.trace.warps.empty())
            return "Warps by cycle: " + nothing_of(*snapshot) + "\n";
        const std::shared_ptr<const Timeline> shared = session.timeline(snapshot->kernel.run);
        const Timeline& timeline = *shared;
        const KernelTrace& trace = timeline.trace();
        Focus at = focus;
        if (at.warp < 0 || at.warp >= static_cast<int32_t>(trace.warps.size()) || at.time < 0)
            focus_first(timeline, at, first_look);
        const int64_t hidden = revealed_until(session, at, trace);
        const int64_t all = std::max<int64_t>(1, timeline.cycles);
        const auto [begin, end] = window_of(session, at, all, timeline_->run != snapshot->kernel.run);
        const auto [from, to] = span_of(session.sm.whole ? 0 : begin, session.sm.whole ? all : end, timeline);
        const WindowSums sums = quick_sums(timeline, from, to);
        std::string text = fmt::format("Warps by cycle (simulated), SM {}", trace.sm);
        text += hidden != INT64_MAX ? "\n"
                                    : fmt::format(" of {}, cycles {} to {}\n", timeline.run->gpu.sms.value, begin, end - 1);
        if (hidden == INT64_MAX) {
            text += sums_text(trace, sums);
            text += fmt::format("  resident warps: {}\n", resident_of(*snapshot->kernel.run).text());
            text += wait_text(timeline, at);
            if (timeline.rows.size() <= 4)
                text += IssueList().describe(timeline, static_cast<uint32_t>(at.warp), at.time, hidden);
        }
        if (trace.truncated)
            text += fmt::format("  cycles {} to {} are kept in full, the others are known from afar\n", trace.kept_from,
                                trace.kept_until - 1);
        const bool cut = from > begin || to < end;
        return text + "  " + caption_of(timeline, sums, at, hidden, session.sm.whole, cut) + "\n";
    }

  private:
    // The window; of a kernel that is not drawn yet (fresh), the one that it will open with.
    static std::pair<int64_t, int64_t> window_of(const Session& session, const Focus& focus, int64_t all, bool fresh) {
        if (session.sm.cycles_end > session.sm.cycles_begin) return {session.sm.cycles_begin, session.sm.cycles_end};
        if (!fresh) return {0, all};
        const int64_t length = std::min(all, first_look);
        const int64_t opens = std::clamp<int64_t>(focus.time - length * 6 / 10, 0, all - length);
        return {opens, opens + length};
    }

    static std::string sums_text(const KernelTrace& trace, const WindowSums& sums) {
        std::string text = fmt::format("  of the cycles of {}:\n", slots_of(sums));
        for (size_t s = 0; s < state_count; ++s)
            if (sums.states[s] > 0)
                text += fmt::format("  {}: {}\n", row_of(static_cast<StallReason>(s)).label,
                                    percent(sums.states[s], sums.slot_cycles));
        if (sums.slot_cycles > 0)
            text += fmt::format("  empty slot: {}\n", percent(sums.empty(), sums.slot_cycles));
        else
            text += fmt::format("  empty slot: 100.0 %\n  {}\n", idle_text(trace, sums.begin, sums.end));
        for (size_t s = 0; s < sums.issued.size(); ++s)
            text += fmt::format("  scheduler {}: {} issued, {} cycles without an issue\n", s, sums.issued[s],
                                sums.end - sums.begin - sums.busy[s]);
        return text;
    }

    static std::string wait_text(const Timeline& timeline, const Focus& at) {  // of the warp in focus, where it waits
        const WarpTrack& warp = timeline.trace().warps[static_cast<size_t>(at.warp)];
        const WarpState state = state_at(timeline.trace(), warp, at.time);
        if (!state.resident || !state.stall) return {};
        const Wait wait = wait_of(timeline, static_cast<uint32_t>(at.warp), *state.stall);
        return fmt::format("  warp {} of block {} at cycle {}: {} ({})\n", warp.warp_in_block, warp.block, at.time,
                           wait.sentence, length_of(*state.stall, wait));
    }

    std::shared_ptr<const Timeline> timeline_ = std::make_shared<const Timeline>();
    WindowSums sums_;
    FocusFollower follower_;
    IssueList list_;
    uint64_t runs_ = 0;  // kernels shown so far
    int64_t seen_time_ = -1;
    int32_t seen_warp_ = -1;

    // True for another kernel; false for the same launch under other conditions, whose window stays.
    bool adopt(const Session& session, const std::shared_ptr<const model::KernelRun>& run) {
        if (timeline_->run == run) return false;
        const std::shared_ptr<const model::KernelRun> was = timeline_->run;
        timeline_ = session.timeline(run);
        sums_ = {};
        came_from_ = {};
        wished_blocks_ = 0;
        ++runs_;
        return !was || was->program != run->program || was->config.grid != run->config.grid ||
               was->config.block != run->config.block;
    }

    // Of what may be seen: the legend must not name a state that comes later.
    void sums_for(const Session& session, int64_t hidden) {
        const bool whole = session.sm.whole || session.sm.cycles_end <= session.sm.cycles_begin;
        const auto [begin, until] =
            span_of(whole ? 0 : session.sm.cycles_begin,
                    whole ? std::max<int64_t>(1, timeline_->cycles) : session.sm.cycles_end, *timeline_);
        const int64_t end = std::max(begin, std::min(until, hidden));
        if (sums_.issued.empty() || sums_.begin != begin || sums_.end != end) sums_ = quick_sums(*timeline_, begin, end);
    }

    bool has_warp(const Focus& focus) const {
        return focus.warp >= 0 && focus.warp < static_cast<int32_t>(timeline_->trace().warps.size());
    }

    static bool in_window(const Session& session, int64_t time) {
        return time >= session.sm.cycles_begin && time < session.sm.cycles_end;
    }

    // As long as it is, with 1 / `part` of it before the time.
    static void move_window(Session& session, int64_t time, int64_t part) {
        const int64_t length = session.sm.cycles_end - session.sm.cycles_begin;
        session.sm.cycles_begin = time - length / part;
        session.sm.cycles_end = session.sm.cycles_begin + length;
    }

    // Another width or text size: columns as readable as before, around the clock.
    void keep_readable(Session& session, const Focus& focus, int64_t plain) const {
        const int64_t length = session.sm.cycles_end - session.sm.cycles_begin;
        if (length <= 0 || seen_plain_ == plain || length != seen_plain_) return;
        const int64_t before = std::clamp(focus.time - session.sm.cycles_begin, int64_t{0}, seen_plain_);
        session.sm.cycles_begin += before - before * plain / seen_plain_;
        session.sm.cycles_end = session.sm.cycles_begin + plain;
    }

    // The window has been chosen already: it keeps the clock in sight.
    void settle_chosen_window(Session& session, const Focus& focus, int64_t plain, bool fresh) const {
        const bool of_lesson = session.lesson.lesson && session.sm.cycles_end - session.sm.cycles_begin != first_look;
        if (fresh && !of_lesson) {
            if (focus.time >= session.sm.cycles_begin + plain) session.sm.cycles_begin = focus.time - plain / 2;
            session.sm.cycles_end = session.sm.cycles_begin + plain;
        } else if (focus.time != seen_time_ && !in_window(session, focus.time)) {
            move_window(session, focus.time, 2);
        }
    }

    // A new kernel opens at a readable width where most happens, a lesson's around its focus; equal ends later (Home) mean
    // the whole kernel.
    void settle_window(Session& session, Focus& focus, float width, bool fresh) {
        const bool chosen = has_warp(focus) && focus.time >= 0;
        const bool unset = session.sm.cycles_end <= session.sm.cycles_begin;
        const auto plain = std::min(static_cast<int64_t>(width / plain_column), std::max<int64_t>(1, timeline_->cycles));
        if (!fresh) keep_readable(session, focus, plain);
        seen_plain_ = plain;
        if (!chosen) {
            session.sm.cycles_begin = focus_first(*timeline_, focus, plain);
            set_clock(session, focus, timeline_->trace(), focus.time);
            session.sm.cycles_end = session.sm.cycles_begin + plain;
        } else if (unset && fresh) {
            session.sm.cycles_begin = focus.time - plain * 6 / 10;
            session.sm.cycles_end = session.sm.cycles_begin + plain;
        } else if (unset) {
            session.sm.cycles_begin = 0;
            session.sm.cycles_end = std::max<int64_t>(1, timeline_->cycles);
        } else {
            settle_chosen_window(session, focus, plain, fresh);
        }
        const bool open = session.learn.reveal_steps < 0;
        // Answered, and the clock still stands where the hidden part began: that part fills the picture now.
        const bool answered = open && !fresh && hidden_after_ >= 0;
        if (answered && hidden_after_ == focus.time) move_window(session, focus.time, 8);
        hidden_after_ = session.learn.reveal_steps > 0 ? focus.time : -1;
        if (open && session.learn.placed != placed_) hold_wait(session, focus, plain);
        if (open) placed_ = session.learn.placed;
        seen_time_ = focus.time;
        show(session, session.sm.cycles_begin, session.sm.cycles_end, width);
    }
    // All cycles in view, with the numbers of all of them; back: the cycles that were in view before.
    void show_whole(Session& session, bool whole) {
        if (whole == session.sm.whole) return;
        session.sm.whole = whole;
        if (whole) {
            before_whole_ = {session.sm.cycles_begin, session.sm.cycles_end};
            session.sm.cycles_begin = 0;
            session.sm.cycles_end = std::max<int64_t>(1, timeline_->cycles);
        } else if (const auto [begin, end] = before_whole_; end > begin) {
            session.sm.cycles_begin = begin;
            session.sm.cycles_end = end;
        }
    }
    // Another kernel, or the picture was zoomed into: what is in view is not the whole any more.
    void keep_whole(Session& session, bool fresh) const {
        const bool all = session.sm.cycles_begin <= 0 && session.sm.cycles_end >= timeline_->cycles;
        if (session.sm.whole && (fresh || !all)) session.sm.whole = false;
    }
    std::pair<int64_t, int64_t> before_whole_ = {0, 0};

    uint64_t placed_ = 0;
    int64_t seen_plain_ = 0;     // cycles of a readable width, in the last frame
    int64_t hidden_after_ = -1;  // the clock while a prediction hides what follows; -1: it hides nothing, or all

    // Where each scheduler has one warp at most, its long wait is what there is to see: the window that ends within the next
    // one reaches past its end, to what the warp does then.
    void hold_wait(Session& session, const Focus& focus, int64_t plain) const {
        const KernelTrace& trace = timeline_->trace();
        if (!has_warp(focus)) return;
        std::set<std::pair<uint16_t, uint16_t>> rows;  // scheduler and slot
        for (const WarpTrack& warp : trace.warps) rows.insert({warp.scheduler, warp.slot});
        uint16_t last = UINT16_MAX;
        for (const auto& [scheduler, slot] : rows)
            if (std::exchange(last, scheduler) == scheduler) return;
        const StallRun* wait = nullptr;
        for (const StallRun& run : runs_in(trace.warps[static_cast<size_t>(focus.warp)], focus.time, focus.time + plain))
            if (run.cause >= 0 && run.begin >= focus.time && (!wait || run.end - run.begin > wait->end - wait->begin))
                wait = &run;
        if (!wait || wait->end <= session.sm.cycles_end) return;
        session.sm.cycles_begin = focus.time - plain / 8;
        session.sm.cycles_end = wait->end + plain * 6 / 10;
    }

    // Sets the window, kept inside the kernel and between one pixel a column and the widest column.
    void show(Session& session, int64_t begin, int64_t end, float width) const {
        const int64_t all = std::max<int64_t>(1, timeline_->cycles);
        const auto least = std::min(all, static_cast<int64_t>(width / widest_column));
        const int64_t length = std::clamp(end - begin, std::max<int64_t>(1, least), all);
        session.sm.cycles_begin = std::clamp<int64_t>(begin, 0, all - length);
        session.sm.cycles_end = session.sm.cycles_begin + length;
    }

    size_t estimated_quads(const Session& session) const {
        size_t quads = 0;
        for (const WarpTrack& warp : timeline_->trace().warps) {
            if (warp.end <= session.sm.cycles_begin || warp.begin >= session.sm.cycles_end) continue;
            quads += runs_in(warp, session.sm.cycles_begin, session.sm.cycles_end).size() +
                     issues_in(timeline_->trace(), warp, session.sm.cycles_begin, session.sm.cycles_end).size();
            if (quads > 100'000) break;
        }
        return quads;
    }

    // What of the header fits; the least needed is left out first.
    struct Header {
        bool numbers = false, slider = false, span = false, compare = false, named = false, in_full = false, why = false;
        std::string number, where;
    };
    static constexpr std::string_view resident_words = "resident warps per scheduler", resident_short = "resident warps";
    static constexpr std::string_view span_words[] = {"in view", "whole"};

    bool can_slide(const ResidentWarps& resident) const { return resident.most > 1 && timeline_->run->before != nullptr; }

    std::vector<std::string> shorter_and_shorter(const std::string& right) const {
        const KernelTrace& trace = timeline_->trace();
        return {right, right.substr(0, right.find(" of ")) + right.substr(std::min(right.find(','), right.size())),
                fmt::format("SM {} of {}", trace.sm, timeline_->run->gpu.sms.value), fmt::format("SM {}", trace.sm)};
    }

    Header fit_header(const Ui& ui, const ResidentWarps& resident, const std::string& right, float room, bool open) const {
        Header header;
        const auto takes = [&](float width) {
            if (width > room) return false;
            room -= width;
            return true;
        };
        const auto small = [&](std::string_view text) { return ui.text_width(text, {.size = 13}); };
        const bool slides = can_slide(resident);
        header.number = resident.number(wished_blocks_ != 0 ? wished_blocks_ : resident.blocks);
        header.numbers =
            open && resident.blocks > 0 && takes(ui.text_width(header.number, {.size = 13, .weight = 600}) + 10);
        header.slider = header.numbers && slides && takes(120);
        header.span = open && takes(ui.segmented_width(span_words) + 8);
        header.compare = open && takes(ui.chip_width("Compare") + 8);
        header.named = header.numbers && takes(small(resident_short) + 10);
        for (const std::string& where : shorter_and_shorter(right))
            if (header.where.empty() && takes(small(where) + 16)) header.where = where;
        header.in_full = header.named && takes(small(resident_words) - small(resident_short));
        header.why = header.numbers && takes(small(resident.why) + 8);
        return header;
    }

    // From left to right: resident warps with their slider, what the numbers are of, compare, and where this is.
    void draw_header(Ui& ui, Session& session, const Rect& area, const std::string& right, bool open) {
        const Theme& theme = *ui.theme;
        const ResidentWarps resident = resident_of(*timeline_->run);
        const float left = area.x + 12 + ui.text_width("Warps by cycle", {.size = 14, .weight = 600}) + 22;
        const Header header = fit_header(ui, resident, right, area.right() - 38 - left, open);
        float x = left;
        if (header.named)
            x = ui.text(x, area.y + 20, header.in_full ? resident_words : resident_short,
                        {.size = 13, .color = theme.ink2}) +
                10;
        if (header.slider) {
            resident_slider(ui, session, *timeline_->run, wished_blocks_, {x + 8, area.y + 7, 94, 16});
            x += 116;
        }
        if (header.numbers) x = ui.text(x, area.y + 20, header.number, {.size = 13, .weight = 600}) + 8;
        if (header.why) ui.text(x, area.y + 20, resident.why, {.size = 13, .color = theme.quiet});

        float end = area.right() - 38;
        if (header.compare) {
            end -= ui.chip_width("Compare");
            float at = end;
            if (ui.chip(at, area.y + 2, "Compare", session.sm.pinned != nullptr)) start_comparing(session);
            end -= 8;
        }
        if (header.span) {
            end -= ui.segmented_width(span_words);
            float at = end;
            show_whole(session, ui.segmented(at, area.y + 2, span_words, session.sm.whole ? 1 : 0) == 1);
            end -= 8;
        }
        if (!header.where.empty())
            ui.text(end - 4, area.y + 20, header.where, {.size = 13, .color = theme.ink2, .align = Align::right});
    }

    void start_comparing(Session& session) {
        session.sm.pinned = timeline_->run;
        session.sm.page = SmPage::compare;
        session.workspace = Workspace::sm;
    }

    uint32_t wished_blocks_ = 0;  // that the slider asked for and the worker has not yet run; 0: nothing
    struct {
        int32_t warp = -1;
        int64_t time = -1;
    } came_from_;  // the wait whose cause Enter went to

    void zoom(Session& session, double factor, int64_t around, float width) const {
        const double left = static_cast<double>(around - session.sm.cycles_begin),
                     all = static_cast<double>(session.sm.cycles_end - session.sm.cycles_begin);
        const auto length = std::max<int64_t>(static_cast<int64_t>(std::llround(all * factor)),
                                              factor > 1 ? static_cast<int64_t>(all) + 1 : 1);
        const auto begin = around - static_cast<int64_t>(std::llround(left / all * static_cast<double>(length)));
        show(session, begin, begin + length, width);
    }

    void zoom_by_key(Ui& ui, Session& session, const Focus& focus, const Rect& panel, float width) const {
        const int64_t length = session.sm.cycles_end - session.sm.cycles_begin, step = std::max<int64_t>(1, length / 8);
        const int64_t middle = in_window(session, focus.time) ? focus.time : session.sm.cycles_begin + length / 2;
        const auto pan = [&](int64_t by) { show(session, session.sm.cycles_begin + by, session.sm.cycles_end + by, width); };
        if (ui.pressed(Key::w, panel)) zoom(session, 0.7, middle, width);
        if (ui.pressed(Key::s, panel)) zoom(session, 1 / 0.7, middle, width);
        if (ui.pressed(Key::a, panel)) pan(-step);
        if (ui.pressed(Key::d, panel)) pan(step);
    }

    static float place_rows(Ui& ui, TimelinePlaces& places) {  // where they stand; returns how far they are scrolled
        const float offset = ui.scroll("rows", places.rows, places.content);
        float y = places.rows.y - offset;
        for (GroupPlace& group : places.groups) {
            group.y = y;
            y += group_head;
            for (RowPlace& row : group.rows) {
                row.y = y;
                y += places.pitch;
            }
            y += group_gap;
        }
        return offset;
    }

    void scroll_to_warp(Ui& ui, const Focus& focus, const TimelinePlaces& places, float offset) const {
        const RowPlace* chosen = places.place_of(timeline_->trace().warps[static_cast<size_t>(focus.warp)].slot, *timeline_);
        if (chosen == nullptr || places.content <= places.rows.h) return;
        const float top = chosen->y + offset - places.rows.y;
        if (top - offset >= group_head && top - offset <= places.rows.h - places.pitch) return;
        ui.scroll_to("rows", top - places.rows.h / 2);
        ui.animate();
    }

    void react(Ui& ui, Session& session, Focus& focus, TimelinePlaces& places) {
        const float width = places.axis.width;
        const Rect picture{places.axis.x, places.rows.y - 22, width,
                           (places.area.h > 0 ? places.area.bottom() : places.rows.bottom()) - places.rows.y + 22};
        const Rect panel{places.gutter - 12, places.rows.y - 64, places.rows.w + 24, 2000};
        const int64_t length = session.sm.cycles_end - session.sm.cycles_begin;
        if (const float notches = ui.wheel(picture); notches != 0)
            zoom(session, std::pow(0.8, notches), places.axis.cycle(ui.mouse.x), width);
        zoom_by_key(ui, session, focus, panel, width);
        if (ui.pressed(Key::enter, panel)) go_to_cause(session, focus);
        if (ui.pressed(Key::v, panel)) show_whole(session, !session.sm.whole);
        if (ui.pressed(Key::c, panel) && places.hidden_from == INT64_MAX) start_comparing(session);
        const int rows_by = (ui.pressed(Key::down, panel) ? 1 : 0) - (ui.pressed(Key::up, panel) ? 1 : 0);

        const float offset = place_rows(ui, places);
        if (rows_by != 0) choose_row(session, focus, places, rows_by);
        if (focus.warp != seen_warp_ && focus.warp >= 0) scroll_to_warp(ui, focus, places, offset);
        seen_warp_ = focus.warp;

        pan_or_click(ui, session, focus, places, picture, length);
    }

    void pan_or_click(Ui& ui, Session& session, Focus& focus, const TimelinePlaces& places, const Rect& picture,
                      int64_t length) {
        const Drag drag = ui.drag("pan", picture);
        if (drag.active && std::abs(drag.at.x - drag.from.x) > 4) {
            if (!panning_) pan_from_ = session.sm.cycles_begin;
            panning_ = true;
            const auto by = static_cast<int64_t>(std::llround((drag.from.x - drag.at.x) / places.axis.column()));
            show(session, pan_from_ + by, pan_from_ + by + length, places.axis.width);
        }
        if (drag.ended) {
            if (!panning_) click(session, focus, places, drag.from);
            panning_ = false;
        }
        under_pointer_ = {};
        if (!drag.active) hover(ui, places);
    }

    bool panning_ = false;
    int64_t pan_from_ = 0;

    // The row under a point, and the warp in it at the cycle.
    int warp_under(const TimelinePlaces& places, Point p, int64_t cycle) const {
        if (!places.rows.contains({places.rows.x, p.y})) return -1;
        for (const GroupPlace& group : places.groups)
            for (const RowPlace& row : group.rows)
                if (p.y >= row.y && p.y < row.y + places.pitch)
                    return warp_at(timeline_->trace(), timeline_->rows[row.row], cycle);
        return -1;
    }

    void click(Session& session, Focus& focus, const TimelinePlaces& places, Point at) {
        const int64_t cycle = std::clamp(places.axis.cycle(at.x), places.axis.begin, places.axis.end - 1);
        if (cycle >= places.hidden_from) return;
        const int warp = warp_under(places, at, cycle);
        if (warp >= 0)
            focus_on(session, focus, *timeline_, static_cast<uint32_t>(warp), cycle);
        else
            set_clock(session, focus, timeline_->trace(), cycle);
        seen_time_ = cycle;
        clicked_at_ = at;
    }

    Point clicked_at_{-100, -100};  // until the pointer leaves it, no tooltip covers what the click brought

    Rect under_pointer_;  // the cell or stalled run that the pointer is on; width 0: none

    void hover(Ui& ui, const TimelinePlaces& places) {
        const Rect cells{places.axis.x, places.rows.y, places.axis.width, places.rows.h};
        if (!ui.hovered(cells)) return;
        const int64_t cycle = places.axis.cycle(ui.mouse.x);
        const int warp = cycle < places.hidden_from ? warp_under(places, ui.mouse, cycle) : -1;
        if (warp < 0) return;
        const WarpTrack& track = timeline_->trace().warps[static_cast<size_t>(warp)];
        const WarpState state = state_at(timeline_->trace(), track, cycle);
        if (!state.resident) return;
        if (const RowPlace* row = places.place_of(track.slot, *timeline_); row && !places.texture) {
            const int64_t from = state.issue ? cycle : std::max(state.stall->begin, places.axis.begin);
            const int64_t to = state.issue ? cycle + 1 : std::min({state.stall->end, places.axis.end, places.hidden_from});
            const float x = places.axis.at(from);
            under_pointer_ = {x, row->y + 1, std::max(2.0f, places.axis.at(to) - x - 1), places.pitch - 2};
        }
        const StallRow& reason = row_of(state.reason());
        std::string text =
            fmt::format("warp {} of block {}, cycle {}\n", track.warp_in_block, track.block, with_commas(cycle));
        if (state.issue) {
            text += timeline_->run->program ? "issues " + short_text(*timeline_->run->program, state.issue->pc) : "issues";
        } else if (state.stall->end > places.hidden_from) {  // how long, and for what, an open prediction may ask
            text += fmt::format("{}\n{}", reason.label, reason.explanation);
        } else {
            const Wait wait = wait_of(*timeline_, static_cast<uint32_t>(warp), *state.stall);
            text += fmt::format("{}, {}\n{}\n{}", reason.label, length_of(*state.stall, wait), wait.sentence,
                                reason.explanation);
        }
        if (std::abs(ui.mouse.x - clicked_at_.x) < 4 && std::abs(ui.mouse.y - clicked_at_.y) < 4) return;
        clicked_at_ = {-100, -100};
        ui.tooltip(text);
    }

    void choose_row(Session& session, Focus& focus, const TimelinePlaces& places, int by) {
        std::vector<int> order;
        int at = -1;
        for (const GroupPlace& group : places.groups)
            for (const RowPlace& row : group.rows) {
                const int warp = warp_at(timeline_->trace(), timeline_->rows[row.row], focus.time);
                if (warp < 0) continue;
                if (warp == focus.warp) at = static_cast<int>(order.size());
                order.push_back(warp);
            }
        if (order.empty()) return;
        const int next = std::clamp(at + by, 0, static_cast<int>(order.size()) - 1);
        focus_on(session, focus, *timeline_, static_cast<uint32_t>(order[static_cast<size_t>(next)]), focus.time);
    }

    void go_to_cause(Session& session, Focus& focus) {
        const WarpTrack& warp = timeline_->trace().warps[static_cast<size_t>(focus.warp)];
        const WarpState state = state_at(timeline_->trace(), warp, focus.time);
        if (!state.stall) {  // an instruction that issued: back to the wait that led here
            const auto back = came_from_;
            came_from_ = {};
            if (back.warp >= 0) focus_on(session, focus, *timeline_, static_cast<uint32_t>(back.warp), back.time);
            return;
        }
        const Wait wait = wait_of(*timeline_, static_cast<uint32_t>(focus.warp), *state.stall);
        if (!wait.cause) return;
        came_from_ = {focus.warp, focus.time};
        focus_on(session, focus, *timeline_, wait.cause->warp, wait.cause->cycle);
    }

    // Where a fault ended the launch.
    void draw_stop(Ui& ui, const TimelinePlaces& places, float foot) const {
        const std::string text = stop_text(*timeline_->run);
        const TimeAxis& axis = places.axis;
        if (text.empty() || timeline_->cycles <= axis.begin || timeline_->cycles > axis.end) return;
        const float x = std::min(axis.at(timeline_->cycles), axis.x + axis.width - 1);
        ui.rect({x - 1, places.ruler.y + 18, 2, foot - places.ruler.y - 18}, data::vermillion);
        const TextStyle style{.size = 12, .color = ui.theme->wrong, .align = Align::right, .weight = 600};
        const float wide = ui.text_width(text, style) + 12;
        if (places.area.h < 20 || x - wide < axis.x) return;
        ui.rect({x - wide, places.area.y + 2, wide - 2, 18}, ui.theme->panel, 3);
        ui.text(x - 8, places.area.y + 15, text, style);
    }

    void draw_groups(Ui& ui, const Focus& focus, const TimelinePlaces& places, uint64_t version) const {  // those in view
        ui.clip({places.rows.x, places.rows.y, places.rows.w, places.rows.h});
        for (const GroupPlace& group : places.groups) {
            const float height = group_head + places.pitch * static_cast<float>(group.rows.size());
            if (group.y + height < places.rows.y || group.y > places.rows.bottom()) continue;
            draw_group(ui, *timeline_, sums_, places, group, focus, version);
        }
        ui.unclip();
    }

    // The cursor, but for the chosen cell, whose letter is what one looks for; its cycle on the ruler.
    void draw_clock(Ui& ui, const Focus& focus, const TimelinePlaces& places, float foot) const {
        const TimeAxis& axis = places.axis;
        const float x = axis.at(focus.time) + axis.column() / 2;
        const WarpTrack* warp = focus.warp >= 0 ? &timeline_->trace().warps[static_cast<size_t>(focus.warp)] : nullptr;
        const RowPlace* chosen = warp && places.letters && state_at(timeline_->trace(), *warp, focus.time).resident
                                     ? places.place_of(warp->slot, *timeline_)
                                     : nullptr;
        if (chosen && chosen->y > places.rows.y && chosen->y + places.pitch < places.rows.bottom()) {
            ui.cursor_line(x, places.ruler.y + 16, chosen->y);
            ui.cursor_line(x, chosen->y + places.pitch - 1, foot);
        } else {
            ui.cursor_line(x, places.ruler.y + 16, foot);
        }
        const std::string label = with_commas(focus.time);
        const float width = ui.text_width(label, {.size = 12, .weight = 700, .mono = true}) + 14;
        const float left = std::clamp(x - width / 2, axis.x - 20, places.rows.right() - width);
        ui.rect({left, places.ruler.y, width, 18}, ui.theme->ink, 3);
        ui.text(left + width / 2, places.ruler.y + 14, label,
                {.size = 12, .color = ui.theme->panel, .align = Align::center, .weight = 700, .mono = true});
    }

    static void draw_hidden_part(Ui& ui, const TimelinePlaces& places, float foot) {
        const TimeAxis& axis = places.axis;
        const float x = axis.at(std::max(places.hidden_from, axis.begin));
        const float until = places.groups.empty() && places.legend.h > 0 ? places.legend.y - 12 : foot;  // all is hidden
        const Rect box{x + 2, places.rows.y + 4, axis.x + axis.width - x - 2, until - places.rows.y - 4};
        ui.rect(box, ui.theme->panel);
        ui.dashed(box, ui.theme->ink3);
        if (box.w > 120)
            ui.paragraph({box.x + 12, box.y + box.h / 2 - 20, box.w - 24, 60}, "Hidden until you lock an answer.",
                         {.size = 13, .color = ui.theme->ink2}, 20);
    }

    void paint(Ui& ui, const Focus& focus, const TimelinePlaces& places) {
        const TimeAxis& axis = places.axis;
        // Pictures are made anew when anything that they show changes.
        const uint64_t version = (runs_ * 1000003u + static_cast<uint64_t>(axis.begin)) * 1000003u +
                                 static_cast<uint64_t>(axis.end) * 31u + static_cast<uint64_t>(places.pitch) * 7u +
                                 (ui.theme->dark ? 1u : 0u) + static_cast<uint64_t>(axis.width) * 131u;
        draw_ruler(ui, places, focus.time);
        draw_groups(ui, focus, places, version);
        if (places.area.h > 0) draw_area(ui, *timeline_, places, version);
        const float foot = places.area.h > 0 ? places.area.bottom() : places.rows.bottom();
        if (focus.time >= axis.begin && focus.time < axis.end) draw_clock(ui, focus, places, foot);
        if (places.hidden_from == INT64_MAX) draw_stop(ui, places, foot);
        ui.clip({places.rows.x, places.rows.y - 10, places.rows.w, places.rows.h + 20});
        if (under_pointer_.w > 0) ui.outline(under_pointer_);
        draw_wait(ui, *timeline_, places, focus);
        ui.unclip();
        if (places.hidden_from < axis.end) {
            draw_hidden_part(ui, places, foot);
        } else if (places.area.h > 0 && focus.time >= 0) {
            draw_counts(ui, *timeline_, places, focus.time);
        }
        if (places.groups.empty() && places.hidden_from == INT64_MAX) {
            const float bottom = places.legend.h > 0 ? places.legend.y : places.rows.bottom();
            ui.text(places.rows.x + places.rows.w / 2, (foot + bottom) / 2 + 5,
                    idle_text(timeline_->trace(), axis.begin, axis.end),
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center, .width = places.rows.w - 20});
        }
        if (places.legend.h > 0) draw_legend(ui, *timeline_, sums_, places);
    }
};

}  // namespace

std::unique_ptr<View> make_warps_view() {
    return std::make_unique<WarpsView>();
}

}  // namespace lockstep::gui
