// The source beside an SM: how many of its warps stand at each line now, and what the focused warp issues next. A click on a
// line goes round the warps that stand there.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float row_height = 18, numbers = 30, counts = 74;

using WarpsByLine = std::map<int32_t, std::vector<uint32_t>>;  // indices into KernelTrace::warps, by slot

WarpsByLine warps_by_line(const MachineFrame& frame) {
    const KernelTrace& trace = frame.scene->trace();
    WarpsByLine lines;
    for (const SlotRow& row : frame.scene->timeline->rows) {
        const int warp = warp_at(trace, row, frame.cycle());
        if (warp < 0) continue;
        const WarpState state = state_at(trace, trace.warps[static_cast<size_t>(warp)], frame.cycle());
        if (state.resident) lines[line_of_pc(*frame.scene->run->program, state.pc())].push_back(static_cast<uint32_t>(warp));
    }
    return lines;
}

int32_t busiest_line(const WarpsByLine& lines) {  // -1: no warp is at a line of the source
    size_t most = 0;
    int32_t at = -1;
    for (const auto& [line, warps] : lines)
        if (line > 0 && warps.size() > most) most = warps.size(), at = line;
    return at;
}

std::string lines_sentence(const WarpsByLine& lines) {
    size_t all = 0;
    for (const auto& [line, warps] : lines) all += warps.size();
    const int32_t at = busiest_line(lines);
    const size_t most = at < 0 ? 0 : lines.at(at).size();
    if (all == 0) return "No warp is on this SM in this cycle.";
    if (at < 0) return fmt::format("{} here, at no line of the source.", counted(all, "warp is", "warps are"));
    return most == all && all == 1 ? fmt::format("Its one warp stands at line {}.", at)
           : most == all           ? fmt::format("All {} warps stand at line {}.", all, at)
                                   : fmt::format("{} of {} warps stand{} at line {}.", most, all, most == 1 ? "s" : "", at);
}

void draw_what_comes(const MachineFrame& frame, const Rect& r, const std::vector<NextIssue>& next) {
    Ui& ui = frame.ui;
    ui.line({r.x, r.y}, {r.right(), r.y}, ui.theme->line);
    ui.text(r.x, r.y + 17, "what comes next", {.size = 12, .color = ui.theme->quiet});
    float y = r.y + 20;
    for (const NextIssue& issue : next) {
        if (y + row_height > r.bottom() + 1) break;
        ui.text(r.x + 66, y + 14, with_commas(issue.cycle),
                {.size = 12, .color = ui.theme->ink2, .align = Align::right, .mono = true});
        ui.text(r.x + 78, y + 14, issue.text, {.size = 12, .mono = true, .width = r.w - 82});
        y += row_height;
    }
}

void draw_one_line(const MachineFrame& frame, const Rect& row, int32_t line, const std::vector<uint32_t>& warps,
                   bool focused) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    if (focused) {
        ui.rect({row.x - 8, row.y, row.w + 16, row.h}, t.selected, 2);
        ui.rect({row.x - 8, row.y, 3, row.h}, t.accent);
    }
    ui.text(row.x + 18, row.y + 13, std::to_string(line),
            {.size = 12, .color = focused ? t.ink : t.quiet, .align = Align::right, .mono = true});
    draw_code(ui, row.x + numbers, row.y + 13, frame.scene->lines[static_cast<size_t>(line) - 1], 12,
              row.w - numbers - counts);
    if (warps.empty()) return;
    const std::string text = std::to_string(warps.size());
    ui.text(row.right(), row.y + 13, text, {.size = 12, .align = Align::right, .weight = focused ? 700 : 400, .mono = true});
    const auto slots = static_cast<float>(std::max<size_t>(1, frame.scene->timeline->rows.size()));
    const float w = std::max(2.0f, (counts - 30) * static_cast<float>(warps.size()) / slots);
    ui.rect({row.right() - 24 - w, row.y + 6, w, 7}, t.accent);
    if (frame.still) return;
    if (ui.hovered(row)) {
        std::string names;
        for (size_t i = 0; i < std::min<size_t>(warps.size(), 8); ++i)
            names += fmt::format("{}w{}", i == 0 ? "" : ", ", frame.scene->trace().warps[warps[i]].slot);
        if (warps.size() > 8) names += ", ...";
        ui.tooltip(fmt::format("{} at this line: {}\nclick for the next of them", names,
                               warps.size() == 1 ? "one warp" : fmt::format("{} warps", warps.size())));
    }
    if (!ui.clicked(row)) return;
    const auto after = std::find(warps.begin(), warps.end(), focused_warp(frame));
    const uint32_t next = after == warps.end() || after + 1 == warps.end() ? warps.front() : *(after + 1);
    focus_on(frame.session, frame.focus, *frame.scene->timeline, next, frame.cycle());
}

}  // namespace

void draw_warp_lines(const MachineFrame& frame, const Rect& area) {
    const MachineScene& scene = *frame.scene;
    if (scene.lines.empty() || !scene.run->program) return frame.show("code", area);
    Ui& ui = frame.ui;
    const bool kept = scene.timeline->kept(frame.cycle());
    const WarpsByLine lines = kept ? warps_by_line(frame) : WarpsByLine{};
    const std::string sentence = kept ? lines_sentence(lines) : "",
                      file = std::filesystem::path(scene.run->program->source_file).filename().string();
    const Rect body =
        ui.panel(area, {.title = "Source", .right = file, .badge = Provenance::simulated, .caption = sentence});
    const uint32_t focused = focused_warp(frame);
    int32_t here = frame.focus.line;
    for (const auto& [line, warps] : lines)
        if (std::find(warps.begin(), warps.end(), focused) != warps.end()) here = line;
    const WarpNow warp = warp_now(frame);
    const std::vector<NextIssue> next = next_issues(frame, warp, static_cast<size_t>(std::clamp(body.h / 60, 0.0f, 12.0f)));
    const float below = next.empty() || body.h < 190 ? 0 : 28 + row_height * static_cast<float>(next.size());
    ui.text(body.right(), body.y + 8, "warps here", {.size = 12, .color = ui.theme->quiet, .align = Align::right});
    const Rect list{body.x, body.y + 14, body.w, body.h - 14 - below};
    const auto all = static_cast<int32_t>(scene.lines.size()), fit = std::max(1, static_cast<int32_t>(list.h / row_height));
    int32_t first = std::clamp(here - fit / 2, 1, std::max(1, all - fit + 1));
    // Where the focused warp's line and the one at which most stand fit in together, both are there. A warp may stand at no
    // line.
    const int32_t most = busiest_line(lines);
    if (here > 0 && most > 0 && std::abs(most - here) < fit)
        first = std::clamp(first, std::max({1, here - fit + 1, most - fit + 1}), std::min(here, most));
    for (int32_t line = first; line <= all && line < first + fit; ++line) {
        const auto at = lines.find(line);
        draw_one_line(frame, {list.x, list.y + row_height * static_cast<float>(line - first), list.w, row_height}, line,
                      at == lines.end() ? std::vector<uint32_t>{} : at->second, line == here);
    }
    if (below > 0) draw_what_comes(frame, {body.x, body.bottom() - below + 8, body.w, below - 8}, next);
}

}  // namespace lockstep::gui
