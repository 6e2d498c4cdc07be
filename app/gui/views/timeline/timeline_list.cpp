// Under the rows of the warp timeline (D1), where few warps leave room: what the focused warp issues, a row an instruction,
// and what it waited for in front of it.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"
#include "core/ptx/decode/program.h"

namespace lockstep::gui {

namespace {

constexpr float list_pitch = 20, list_head = 24;

}  // namespace

bool list_fits(float height) {
    return height >= list_head + 3 * list_pitch;
}

void IssueList::follow(const Timeline& timeline, uint32_t warp) {
    if (run_ == timeline.run.get() && warp_ == warp) return;
    run_ = timeline.run.get();
    warp_ = warp;
    seen_ = SIZE_MAX;
    issues_.clear();
    for (const uint32_t index : timeline.trace().warps[warp].issues)
        if (!timeline.trace().issues[index].folded) issues_.push_back(index);
}

size_t IssueList::at(const Timeline& timeline, int64_t cycle) const {
    const auto found = std::partition_point(issues_.begin(), issues_.end(),
                                            [&](uint32_t index) { return timeline.trace().issues[index].cycle < cycle; });
    return static_cast<size_t>(found - issues_.begin());
}

IssueFacts IssueList::facts(const Timeline& timeline, size_t row) const {
    const KernelTrace& trace = timeline.trace();
    const WarpTrack& warp = trace.warps[warp_];
    const IssueRecord& issue = trace.issues[issues_[row]];
    IssueFacts facts;
    facts.cycle = issue.cycle;
    facts.pc = issue.pc;
    const int64_t from = row > 0 ? trace.issues[issues_[row - 1]].cycle + 1 : std::max(warp.begin, trace.kept_from);
    facts.runs = runs_in(warp, std::min(from, issue.cycle), issue.cycle);
    for (const StallRun& run : facts.runs) {
        facts.waited += run.end - run.begin;
        if (facts.longest == nullptr || run.end - run.begin > facts.longest->end - facts.longest->begin)
            facts.longest = &run;
    }
    return facts;
}

std::string IssueList::why(const Timeline& timeline, const IssueFacts& facts) const {
    if (facts.longest == nullptr) return {};
    std::string text = wait_of(timeline, warp_, *facts.longest).sentence;
    if (text.empty()) text = row_of(facts.longest->reason).label;
    const int64_t longest = facts.longest->end - facts.longest->begin;
    return longest == facts.waited ? text
                                   : fmt::format("{} of {}: {}", with_commas(longest), counted(facts.waited, "cycle"), text);
}

void IssueList::draw(Ui& ui, Session& session, Focus& focus, const Timeline& timeline, const TimelinePlaces& places) {
    const Theme& theme = *ui.theme;
    const Rect& r = places.list;
    if (focus.warp < 0 || static_cast<size_t>(focus.warp) >= timeline.trace().warps.size()) return;
    follow(timeline, static_cast<uint32_t>(focus.warp));
    const size_t count = at(timeline, places.hidden_from);  // an open prediction hides the rest, and how many they are
    if (count == 0) return;
    if (!timeline.kept(focus.time)) {
        const KernelTrace& trace = timeline.trace();
        ui.text(places.axis.x, r.y + 14,
                fmt::format("This cycle is known from afar only; what warps issue is kept from {} to {}.",
                            with_commas(trace.kept_from), with_commas(trace.kept_until - 1)),
                {.size = 13, .color = theme.ink2, .width = r.right() - places.axis.x});
        return;
    }
    const size_t now = at(timeline, focus.time);  // behind the last one: none

    const ptx::Program* const program = timeline.run->program.get();
    // The columns begin where the picture's do; further right where cycles have many digits.
    const float digits = ui.text_width(with_commas(timeline.cycles), {.size = 13, .weight = 700, .mono = true});
    const float left = std::max(places.axis.x, r.x + digits + 18), right = r.right();
    const float text_x = left + 58, room = right - text_x;
    const bool with_bar = room > 560, with_why = room > 380;
    const float waited_x = text_x + (with_why ? std::clamp(room * 0.42f, 200.0f, 330.0f) : room - 12);
    const float bar_x = waited_x + 14, bar_w = room > 800 ? 110 : 60, why_x = with_bar ? bar_x + bar_w + 14 : waited_x + 14;
    const TextStyle label{.size = 12, .color = theme.ink2},
        label_right{.size = 12, .color = theme.ink2, .align = Align::right};
    const WarpTrack& track = timeline.trace().warps[static_cast<size_t>(focus.warp)];
    ui.text(left - 14, r.y + 14, "cycle", label_right);
    ui.text(left + 40, r.y + 14, "line", label_right);
    const std::string title = fmt::format("what warp {} of block {} issues", track.warp_in_block, track.block);
    ui.text(text_x, r.y + 14, title, {.size = 12, .color = theme.ink2, .width = waited_x - text_x - 84});
    ui.text(waited_x, r.y + 14, "cycles waited", label_right);
    if (with_why) ui.text(with_bar ? bar_x : why_x, r.y + 14, "mostly why", label);

    const float whole = std::floor((r.h - list_head) / list_pitch) * list_pitch;
    const Rect rows{r.x, r.y + list_head, r.w + 10, whole};
    if (now != seen_) {  // keep the instruction shown in sight
        seen_ = now;
        ui.scroll_to("issues", std::max(0.0f, static_cast<float>(std::min(now, count - 1)) * list_pitch -
                                                  std::floor(whole / list_pitch / 2) * list_pitch));
    }
    const float offset = ui.scroll("issues", rows, static_cast<float>(count) * list_pitch);
    ui.clip(rows);
    const auto begin = static_cast<size_t>(offset / list_pitch);
    const size_t end = std::min(count, begin + static_cast<size_t>(whole / list_pitch) + 2);
    int64_t most = 1;
    for (size_t i = begin; i < end; ++i) most = std::max(most, facts(timeline, i).waited);
    for (size_t i = begin; i < end; ++i) {
        const IssueFacts one = facts(timeline, i);
        const float y = rows.y + static_cast<float>(i) * list_pitch - offset, base = y + 15;
        if (i == now) {
            ui.rect({r.x - 11, y, r.w + 10, list_pitch}, theme.selected);
            ui.rect({r.x - 11, y, 3, list_pitch}, theme.accent);
        }
        const TextStyle number{.size = 13, .align = Align::right, .weight = i == now ? 700 : 400, .mono = true};
        ui.text(left - 14, base, with_commas(one.cycle), number);
        if (program != nullptr) {
            if (const int32_t line = line_of_pc(*program, one.pc); line > 0)
                ui.text(left + 40, base, std::to_string(line), {.size = 13, .align = Align::right, .mono = true});
            ui.text(text_x, base, short_text(*program, one.pc), {.size = 13, .mono = true, .width = waited_x - text_x - 64});
        }
        ui.text(waited_x, base, one.waited > 0 ? with_commas(one.waited) : "-", number);
        if (with_bar) {
            float x = bar_x;
            const Faded faint(ui, 0.75f);
            for (const StallRun& run : one.runs) {
                const float w = bar_w * static_cast<float>(run.end - run.begin) / static_cast<float>(most);
                if (w >= 1) draw_state(ui, {x, y + 4, w, list_pitch - 8}, run.reason);
                x += w;
            }
        }
        if (with_why && one.longest != nullptr)
            ui.text(why_x, base, why(timeline, one), {.size = 13, .color = theme.ink2, .width = right - why_x});
        if (ui.clicked({r.x - 11, y, r.w, list_pitch})) {
            focus_on(session, focus, timeline, static_cast<uint32_t>(focus.warp), one.cycle);
            seen_ = i;
        }
    }
    ui.unclip();
}

std::string IssueList::describe(const Timeline& timeline, uint32_t warp, int64_t time, int64_t hidden_from) {
    follow(timeline, warp);
    const size_t count = at(timeline, hidden_from), now = at(timeline, time);
    std::string text;
    constexpr size_t before = 3, behind = 5;
    for (size_t i = now > before ? now - before : 0; i < std::min(count, now + behind); ++i) {
        const IssueFacts one = facts(timeline, i);
        text +=
            fmt::format("  cycle {}: {}{}", one.cycle,
                        timeline.run->program ? short_text(*timeline.run->program, one.pc) : fmt::format("pc {}", one.pc),
                        one.waited > 0 ? fmt::format(", after {}", counted(one.waited, "cycle")) : "");
        const std::string reason = why(timeline, one);
        text += reason.empty() ? "\n" : ": " + reason + "\n";
    }
    return text;
}

}  // namespace lockstep::gui
