// A tile with the kernel or program that is on the learner's desk: its text with how long warps wait in front of each line,
// and what its last run did.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/gui/views/home/home.h"
#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/program/program_data.h"
#include "app/gui/views/timeline/state_code.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {

constexpr float line_height = 17;

struct LineHeat {
    std::vector<double> share;                 // of the warps' time, by line from 1
    std::array<double, state_count> states{};  // of the same, by what they did
};

LineHeat heat_of(const Session& session, const std::shared_ptr<const model::KernelRun>& run, size_t lines) {
    LineHeat heat{std::vector<double>(lines + 1, 0.0)};
    if (!run || !run->program) return heat;
    const auto timeline = session.timeline(run);
    const WindowSums sums = sum_window(*timeline, 0, timeline->cycles);
    double all = 0;
    for (const int64_t n : sums.states) all += static_cast<double>(n);
    if (all <= 0) return heat;
    for (size_t s = 0; s < state_count; ++s) heat.states[s] = static_cast<double>(sums.states[s]) / all;
    for (size_t pc = 0; pc < sums.waits.size(); ++pc)
        if (const int32_t line = line_of_pc(*run->program, static_cast<uint32_t>(pc));
            line > 0 && static_cast<size_t>(line) <= lines)
            heat.share[static_cast<size_t>(line)] += static_cast<double>(sums.waits[pc]) / all;
    return heat;
}

// From where on the text is shown: its first kernel's, past what comes before.
size_t first_line(const std::vector<std::string>& lines, size_t room) {
    for (size_t i = 0; i < lines.size(); ++i)
        if (lines[i].find("__global__") != std::string::npos || lines[i].find(".entry") != std::string::npos)
            return i + room > lines.size() && lines.size() >= room ? lines.size() - room : i;
    return 0;
}

// What the warps did over the whole run, the most first.
void draw_states(Ui& ui, const LineHeat& heat, const Rect& area) {
    const Theme& t = *ui.theme;
    std::vector<size_t> order;
    for (size_t s = 0; s < state_count; ++s)
        if (heat.states[s] > 0.005) order.push_back(s);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return heat.states[a] > heat.states[b]; });
    if (order.size() > 5) order.resize(5);
    float y = area.y;
    for (const size_t s : order) {
        const StateCode& code = code_of(static_cast<StallReason>(s));
        if (y + 24 > area.bottom()) break;
        const float share = static_cast<float>(heat.states[s]);
        draw_state(ui, {area.x, y, std::max(3.0f, (area.w - 44) * share), 9}, code.reason);
        ui.text(area.right(), y + 9, fmt::format("{:.0f} %", 100 * share),
                {.size = 12, .color = t.ink, .align = Align::right});
        ui.text(area.x, y + 22, code.reason == StallReason::selected ? "issue an instruction" : std::string(code.doing),
                {.size = 12, .color = t.ink2, .width = area.w});
        y += 29;
    }
}

// The calls, copies and kernels of a whole program on the model's clock.
void draw_tracks(Ui& ui, const ProgramBoard& board, const Rect& area) {
    const Theme& t = *ui.theme;
    static constexpr std::pair<ProgramTrack, std::string_view> tracks[] = {{ProgramTrack::host, "host"},
                                                                           {ProgramTrack::copy_in, "to GPU"},
                                                                           {ProgramTrack::kernels, "kernels"},
                                                                           {ProgramTrack::copy_out, "to host"}};
    const double length = std::max(1e-9, board.end_us - board.begin_us);
    float y = area.y;
    for (const auto& [track, name] : tracks) {
        ui.text(area.x, y + 12, name, {.size = 12, .color = t.ink2});
        const Rect row{area.x + 48, y, area.w - 48, 17};
        ui.rect(row, t.panel);
        float last = -1;
        for (const ProgramBar& bar : board.bars) {
            if (bar.track != track) continue;
            const float x = row.x + row.w * static_cast<float>((bar.begin_us - board.begin_us) / length);
            const float w = std::max(1.0f, row.w * static_cast<float>((bar.end_us - bar.begin_us) / length));
            if (x + w < last + 1) continue;  // finer than a pixel
            last = x + w;
            ui.hatch({x, row.y, w, row.h},
                     track == ProgramTrack::kernels   ? data::green
                     : track == ProgramTrack::host    ? data::grey
                     : track == ProgramTrack::copy_in ? data::orange
                                                      : data::yellow,
                     track == ProgramTrack::copy_in    ? Hatch::diagonal
                     : track == ProgramTrack::copy_out ? Hatch::dots
                                                       : Hatch::solid);
        }
        y += 24;
    }
    ui.text(area.x + 48, y + 12, "0", {.size = 12, .color = t.quiet});
    ui.text(area.right(), y + 12, time_text(length), {.size = 12, .color = t.quiet, .align = Align::right});
}

}  // namespace

void draw_own_tile(const HomeFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const KernelDocument& document = frame.session.desk.document();
    const auto& ran = frame.snapshot.own.run;
    const bool program = document.is_program();
    const bool timed = !program && ran && ran->run && ran->timed && ran->version == frame.session.desk.version();
    float x =
        ui.text(area.x + 16, area.y + 20, document.shown_name(), {.size = 13, .weight = 600, .width = area.w * 0.5f}) + 14;
    std::string did;
    if (timed) did = with_commas(ran->run->result.cycles) + " cycles";
    const bool ran_program = program && frame.snapshot.program.run && frame.snapshot.program.run->reported;
    if (ran_program) did = fmt::format("{} launches", frame.snapshot.program.run->report.launches.size());
    if (did.empty())
        did = program ? "runs when you open it" : frame.session.home.own == HomeLook::Own::asked ? "is compiled ..." : "";
    fit_text(ui, x, area.y + 20, did, {.size = 13, .color = t.ink2, .width = area.right() - 110 - x});

    const auto lines = lines_of(document.text);
    const auto room = static_cast<size_t>((area.h - 40) / line_height);
    const size_t first = first_line(lines, room);
    const bool beside = area.w >= 420 && (timed || ran_program);
    const float code_end = beside ? area.x + area.w * 0.62f : area.right() - 14;
    const LineHeat heat = timed ? heat_of(frame.session, ran->run, lines.size()) : LineHeat{};
    double most = 0;
    for (const double share : heat.share) most = std::max(most, share);
    for (size_t i = 0; i < room && first + i < lines.size(); ++i) {
        const size_t line = first + i + 1;
        const float y = area.y + 46 + line_height * static_cast<float>(i);
        if (timed && line < heat.share.size() && heat.share[line] > 0.005) {
            const float w = 26 * static_cast<float>(heat.share[line] / std::max(1e-9, most));
            ui.hatch({area.x + 12, y - 10, std::max(3.0f, w), 11}, data::orange, Hatch::diagonal);
        }
        ui.text(area.x + 64, y, std::to_string(line), {.size = 12, .color = t.quiet, .align = Align::right, .mono = true});
        draw_code(ui, area.x + 74, y, lines[first + i], 12, code_end - area.x - 80);
    }
    const Rect right{code_end + 12, area.y + 36, area.right() - 16 - code_end - 12, area.h - 44};
    if (!beside) return;
    if (timed) {
        draw_states(ui, heat, right);
    } else {
        static thread_local ProgramBoards boards;
        draw_tracks(ui, boards.of(frame.snapshot), right);
    }
}

}  // namespace lockstep::gui
