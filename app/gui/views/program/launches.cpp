// The launches of a whole program, by kernel: how often, how long, and the line on which their warps waited longest. A
// click, or Enter, opens a launch: all pictures of a kernel are of it from then on, with the memory that it found. Below the
// list stands what that launch comes to, and the way to its pictures.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/gui/view.h"
#include "app/gui/views/program/program_data.h"
#include "core/base/units.h"
#include "core/model/metrics/bound.h"

namespace lockstep::gui {
namespace {

constexpr float pitch = 26;

struct Column {  // right edges, from the right of the list
    float hot, share, time, block, grid;
};

std::string name_of_range(const LaunchGroup& group, const LaunchRange& range) {
    const int64_t last = range.ordinal + range.count - 1;
    if (group.count == 1) return "the only one";
    if (range.count > 1) return fmt::format("{} … {} alike", with_commas(range.ordinal), with_commas(last));
    if (range.ordinal == 1) return "first";
    return range.ordinal == group.count ? fmt::format("last, {}", with_commas(range.ordinal)) : with_commas(range.ordinal);
}

double metric_in(const model::KernelRun& run, std::string_view name) {
    for (const model::Metric& metric : run.result.metrics)
        if (metric.name == name) return metric.value;
    return -1;
}

class LaunchesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const ProgramBoard& board = boards_.of(*snapshot);
        const std::string right = heading(board), sentence = caption(board, *snapshot);
        const bool timed =
            std::any_of(board.groups.begin(), board.groups.end(), [](const LaunchGroup& g) { return g.timed; });
        const Rect body = ui.panel(area, {.title = "Launches",
                                          .right = right,
                                          .badge = board.groups.empty() ? Provenance::none
                                                   : timed              ? Provenance::simulated
                                                                        : Provenance::executed,
                                          .caption = sentence});
        if (board.groups.empty()) return ui.say_nothing_yet(body, nothing(board, *snapshot), nothing_hint(*snapshot));
        ui.push_scope("launches");
        const bool open = snapshot->program.launch >= 0 && snapshot->own.run && snapshot->own.run->run;
        const float foot = open && body.h > 190 ? 92.f : 0.f;
        list(ui, session, board, *snapshot, {body.x, body.y - 4, body.w, body.h - foot + 4});
        if (foot > 0) figures(ui, session, *snapshot, {body.x, body.bottom() - foot + 6, body.w, foot - 6});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const ProgramBoard board = make_board_of(snapshot->program.run);
        if (board.groups.empty()) return "Launches: " + nothing(board, *snapshot) + "\n";
        std::string text = "Launches, " + heading(board) + "\n";
        for (const LaunchGroup& group : board.groups) {
            text += fmt::format("  {}: {} of {} x {}, {}, {:.1f} %{}\n", group.kernel,
                                counted(group.count, "launch", "launches"), shape_text(group.grid), shape_text(group.block),
                                group.timed ? time_text(group.us) : "not timed", 100 * group.share,
                                group.hot_line > 0 ? fmt::format(", hot line {}", group.hot_line) : "");
            for (const LaunchRange& range : group.ranges)
                text += fmt::format("  {} {}: {}\n", opened(*snapshot, range) ? ">" : " ", name_of_range(group, range),
                                    group.timed ? time_text(range.us) : "not timed");
        }
        if (snapshot->program.launch >= 0 && snapshot->own.run && snapshot->own.run->run) {
            text += "  open: " + snapshot->kernel.label + "\n";
            for (const auto& [figure, words] : figures_of(*snapshot)) text += "    " + figure + " " + words + "\n";
        }
        return text + "  " + caption(board, *snapshot) + "\n";
    }

  private:
    ProgramBoards boards_;
    std::set<std::string> closed_;  // groups whose launches are not listed
    float height_ = 0;

    static bool opened(const Snapshot& snapshot, const LaunchRange& range) {
        return snapshot.program.launch >= range.first && snapshot.program.launch == range.first;
    }

    static std::string heading(const ProgramBoard& board) {
        if (board.groups.empty()) return "";
        double us = 0;
        int64_t count = 0;
        bool timed = false;
        for (const LaunchGroup& group : board.groups) us += group.us, count += group.count, timed |= group.timed;
        return fmt::format("{}{}", counted(count, "launch", "launches"), timed ? ", " + time_text(us) : "");
    }

    static std::string nothing(const ProgramBoard& board, const Snapshot& snapshot) {
        if (!board.run) return snapshot.busy.empty() ? "The program has not run yet." : snapshot.busy;
        if (board.run->running) return "The program runs.";
        if (const std::string why = board.run->unreported(); !why.empty()) return why;
        if (board.run->reported && !board.run->report.errors.empty())
            return "No kernel has run: calls or launches were refused, as the reports say.";
        return board.run->reported ? "The program launched no kernel." : "The program made no call of CUDA's runtime.";
    }
    static std::string_view nothing_hint(const Snapshot& snapshot) {
        return snapshot.program.run ? "" : "Run (F5) runs it, its host part as any program of yours.";
    }

    static std::string caption(const ProgramBoard& board, const Snapshot& snapshot) {
        if (!snapshot.program.refused.empty()) return snapshot.program.refused + ".";
        if (board.groups.empty()) return "";
        const LaunchGroup& first = board.groups.front();
        if (!first.timed) return "Values only: the launches were not timed.";
        if (board.groups.size() == 1)
            return fmt::format("All of the kernels' time is {}'s. Click a launch to open it.", first.kernel);
        return fmt::format("{} takes {:.0f} % of the kernels' time. Click a launch to open it.", first.kernel,
                           100 * first.share);
    }

    void list(Ui& ui, Session& session, const ProgramBoard& board, const Snapshot& snapshot, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float right = r.right() - 8;
        const Column at{right, right - 52, right - 168, right - 240, right - 292};
        const bool narrow = r.w < 400;
        const TextStyle head{.size = 12, .color = theme.quiet, .align = Align::right};
        ui.text(r.x + 4, r.y + 13, "kernel", {.size = 12, .color = theme.quiet});
        if (!narrow) ui.text(at.grid, r.y + 13, "grid", head), ui.text(at.block, r.y + 13, "block", head);
        ui.text(at.time, r.y + 13, "time", head);
        ui.text(at.share, r.y + 13, "share", head);
        ui.text(at.hot, r.y + 13, "line", head);
        ui.line({r.x, r.y + 20}, {r.right(), r.y + 20}, theme.grid);
        const Rect rows{r.x, r.y + 22, r.w, r.h - 22};
        const float offset = ui.scroll("rows", {rows.x, rows.y, rows.w + 8, rows.h}, height_);
        ui.clip({rows.x - 8, rows.y, rows.w + 16, rows.h});
        float y = rows.y - offset;
        for (const LaunchGroup& group : board.groups) {
            const std::string key = fmt::format("{} {} {}", group.kernel, shape_text(group.grid), shape_text(group.block));
            const bool folded = closed_.contains(key);
            group_row(ui, session, board, group, key, {rows.x, y, rows.w, pitch}, at, rows);
            y += pitch;
            if (folded || (group.count == 1 && group.ranges.size() == 1)) continue;
            for (const LaunchRange& range : group.ranges) {
                range_row(ui, session, snapshot, group, range, {rows.x, y, rows.w, pitch}, at, rows, narrow);
                y += pitch;
            }
        }
        height_ = y + offset - rows.y;
        ui.unclip();
    }

    void group_row(Ui& ui, Session& session, const ProgramBoard& board, const LaunchGroup& group, const std::string& key,
                   const Rect& row, const Column& at, const Rect& view) {
        if (row.bottom() < view.y || row.y > view.bottom()) return;
        const Theme& theme = *ui.theme;
        const bool single = group.count == 1, folded = closed_.contains(key);
        const bool open = single && session.snapshot()->program.launch == group.ranges.front().first;
        if (open) ui.rect(row, theme.selected, 3);
        if (ui.hovered(row) && !open) ui.rect(row, theme.panel2, 3);
        if (!single) {
            if (folded)
                ui.arrow_head({row.x + 13, row.y + 13}, Way::right, theme.ink2, 4);
            else
                ui.icon(row.x + 9, row.y + 18, Icon::caret_down, {.size = 12, .color = theme.ink2, .align = Align::center});
        }
        const float room = at.time - 70 - row.x - 18;
        const float end =
            ui.text(row.x + 18, row.y + 18, group.kernel, {.size = 14, .weight = 700, .mono = true, .width = room});
        const std::string count = single ? fmt::format("{} x {}", shape_text(group.grid), shape_text(group.block))
                                         : counted(group.count, "launch", "launches");
        if (room - (end - row.x - 18) > 60)
            ui.text(end + 8, row.y + 18, count, {.size = 12, .color = theme.ink2, .width = room - (end - row.x - 18) - 8});
        if (group.timed) {
            ui.text(at.time, row.y + 18, bar_time(group.us),
                    {.size = 13, .align = Align::right, .weight = 700, .mono = true});
            const Rect bar{at.time + 10, row.y + 8, 50, 10};
            ui.rect(bar, theme.grid);
            const Rect filled{bar.x, bar.y, bar.w * static_cast<float>(group.share), bar.h};
            ui.rect(filled, data::green);
            ui.text(at.share, row.y + 18, fmt::format("{:.1f} %", 100 * group.share), {.size = 12, .align = Align::right});
        }
        line_link(ui, session, group.hot_line, at.hot, row, key);
        const Rect click{row.x, row.y, at.hot - 44 - row.x, row.h};
        if (ui.hovered(click))
            ui.tooltip(fmt::format("{}, grid {}, block {}\n{}", group.kernel, shape_text(group.grid),
                                   shape_text(group.block),
                                   single   ? "opens the launch"
                                   : folded ? "shows its launches"
                                            : "hides its launches") +
                       trust_of(board.run->report.launches[static_cast<size_t>(group.ranges.front().first)]));
        if (!ui.area("group " + key, click)) return;
        if (single)
            session.post(ask::OpenLaunch{group.ranges.front().first});
        else if (folded)
            closed_.erase(key);
        else
            closed_.insert(key);
        if (!single) return;
        look_at(session, board, group.ranges.front().first);
    }

    static void look_at(Session& session, const ProgramBoard& board, int64_t launch) {
        const runtime::LaunchRecord& record = board.run->report.launches[static_cast<size_t>(launch)];
        session.program.call = record.call;
        if (record.site.line > 0 && board.run->is_own_line(record.site.file))
            session.program.line = session.desk.go_to_line = record.site.line;
    }

    static void line_link(Ui& ui, Session& session, int line, float right, const Rect& row, const std::string& key) {
        if (line <= 0) return;
        const std::string text = std::to_string(line);
        ui.push_scope(key);
        if (ui.link(right - ui.text_width(text, {.size = 13, .mono = true}), row.y + 18, text, {.size = 13, .mono = true}))
            session.program.line = session.desk.go_to_line = line;
        ui.pop_scope();
    }

    // "\nkernels bound by DRAM: ...", where the launch has a time.
    static std::string trust_of(const runtime::LaunchRecord& record) {
        for (uint8_t i = 0; i < static_cast<uint8_t>(model::Bound::count); ++i)
            if (const auto bound = static_cast<model::Bound>(i); record.bound == model::name_of(bound))
                return "\n" + model::trust_in(bound);
        return {};
    }

    void range_row(Ui& ui, Session& session, const Snapshot& snapshot, const LaunchGroup& group, const LaunchRange& range,
                   const Rect& row, const Column& at, const Rect& view, bool narrow) {
        if (row.bottom() < view.y || row.y > view.bottom()) return;
        const Theme& theme = *ui.theme;
        const bool open = snapshot.program.launch >= range.first && snapshot.program.launch < range.first + range.count;
        if (open) {
            ui.rect(row, theme.selected, 3);
            ui.frame(row, theme.accent, 1.5f, 3);
        } else if (ui.hovered(row)) {
            ui.rect(row, theme.panel2, 3);
        }
        ui.text(row.x + 30, row.y + 18, name_of_range(group, range), {.size = 13, .color = open ? theme.ink : theme.ink2});
        const TextStyle number{.size = 13, .color = open ? theme.ink : theme.ink2, .align = Align::right, .mono = true};
        if (!narrow) {
            ui.text(at.grid, row.y + 18, shape_text(group.grid), number);
            ui.text(at.block, row.y + 18, shape_text(group.block), number);
        }
        if (group.timed) ui.text(at.time, row.y + 18, bar_time(range.us), number);
        if (ui.hovered(row)) {
            const auto& launches = snapshot.program.run->report.launches;
            const runtime::LaunchRecord& record = launches[static_cast<size_t>(range.first)];
            static constexpr std::string_view how[] = {"simulated cycle by cycle", "with the time of an earlier launch",
                                                       "with an earlier launch's time, by its instructions",
                                                       "run for its values"};
            ui.tooltip(fmt::format("launch {} of {}: {}{}\nopens it in all pictures", with_commas(range.first + 1),
                                   with_commas(static_cast<int64_t>(launches.size())),
                                   how[static_cast<size_t>(record.timed_by)],
                                   record.site.line > 0 ? fmt::format(", launched in line {}", record.site.line) : "") +
                       trust_of(record));
        }
        if (ui.area(fmt::format("launch {}", range.first), row)) {
            session.post(ask::OpenLaunch{range.first});
            look_at(session, boards_.of(snapshot), range.first);
        }
    }

    static std::vector<std::pair<std::string, std::string>> figures_of(const Snapshot& snapshot) {
        const model::KernelRun& run = *snapshot.own.run->run;
        const runtime::LaunchRecord& record =
            snapshot.program.run->report.launches[static_cast<size_t>(snapshot.program.launch)];
        std::vector<std::pair<std::string, std::string>> figures;
        if (record.hot_line > 0)
            figures.emplace_back(fmt::format("{:.0f} %", 100 * record.hot_share),
                                 fmt::format("of its waiting at line {}", record.hot_line));
        if (const double sectors = metric_in(run, "sectors_per_request"); sectors >= 0)
            figures.emplace_back(fmt::format("{:.1f}", sectors), "sectors a request");
        if (const double dram = metric_in(run, "dram_utilization"); dram >= 0)
            figures.emplace_back(fmt::format("{:.0f} %", dram), "of DRAM's peak");
        if (figures.size() < 3) figures.emplace_back(with_commas(run.result.cycles), "cycles");
        return figures;
    }

    static void figures(Ui& ui, Session& session, const Snapshot& snapshot, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.grid);
        const auto all = figures_of(snapshot);
        const float width = r.w / static_cast<float>(std::max<size_t>(1, all.size()));
        for (size_t k = 0; k < all.size(); ++k) {
            const float x = r.x + width * static_cast<float>(k);
            ui.text(x, r.y + 24, all[k].first, {.size = 18, .weight = 600, .width = width - 8});
            ui.text(x, r.y + 42, all[k].second, {.size = 12, .color = theme.ink2, .width = width - 8});
        }
        float x = r.x;
        if (ui.chip(x, r.y + 54, "Open in SM", true)) session.workspace = Workspace::sm, session.grain = Grain::cycle;
        if (ui.chip(x, r.y + 54, "Open in Memory"))
            session.workspace = Workspace::memory, session.grain = Grain::instruction;
        ui.text(x + 6, r.y + 72, snapshot.kernel.label, {.size = 12, .color = theme.quiet, .width = r.right() - x - 10});
    }
};

}  // namespace

std::unique_ptr<View> make_launches_view() {
    return std::make_unique<LaunchesView>();
}

}  // namespace lockstep::gui
