// The first tile: the kernel that ran last, alive. Left, eight warps of the traced SM and what each does in every cycle up
// to now; right, the SMs of the GPU, the brighter the more they issue, and how busy L2 and DRAM are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/home/home.h"
#include "app/gui/views/timeline/state_code.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {

constexpr size_t warps_shown = 8;
constexpr float cycle_width = 7;

// Of the two first schedulers four rows each, if there are that many; of those that have a warp in the stretch.
std::vector<const SlotRow*> rows_shown(const HomeKernel& kernel) {
    std::vector<const SlotRow*> rows;
    std::vector<size_t> taken(64, 0);
    const size_t schedulers = std::max<size_t>(1, std::min<size_t>(2, kernel.scene->trace().schedulers));
    for (const SlotRow& row : kernel.scene->timeline->rows) {
        const bool there = std::any_of(row.warps.begin(), row.warps.end(), [&](uint32_t w) {
            const WarpTrack& warp = kernel.scene->trace().warps[w];
            return warp.begin < kernel.end && warp.end > kernel.begin;
        });
        if (!there || row.scheduler >= schedulers || taken[row.scheduler] >= warps_shown / schedulers) continue;
        ++taken[row.scheduler];
        rows.push_back(&row);
    }
    return rows;
}

int state_of(const KernelTrace& trace, const SlotRow& row, int64_t cycle) {  // -1: no warp is there
    const int warp = warp_at(trace, row, cycle);
    if (warp < 0) return -1;
    const WarpState state = state_at(trace, trace.warps[static_cast<size_t>(warp)], cycle);
    return state.resident ? static_cast<int>(state.reason()) : -1;
}

void draw_row(Ui& ui, const HomeKernel& kernel, const SlotRow& row, const Rect& strip, std::vector<int64_t>& seen) {
    const KernelTrace& trace = kernel.scene->trace();
    const auto now = static_cast<int64_t>(kernel.clock);
    const auto columns = static_cast<int64_t>(strip.w / cycle_width) + 2;
    const auto passed = static_cast<float>(kernel.clock - static_cast<double>(now));
    int64_t run_from = now - columns;
    const auto edge = [&](int64_t cycle) {  // where a cycle begins; the one of now ends at the strip's end
        return strip.right() - (static_cast<float>(now - cycle) + passed) * cycle_width;
    };
    int before = -2;
    for (int64_t cycle = now - columns; cycle <= now + 1; ++cycle) {
        const int state = cycle > now || cycle < 0 ? -2 : state_of(trace, row, cycle);
        if (state == before) continue;
        if (before >= 0) {
            seen[static_cast<size_t>(before)] += cycle - run_from;
            const float left = std::max(strip.x, edge(run_from)), right = std::min(strip.right(), edge(cycle));
            const float hair = before == static_cast<int>(StallReason::selected) ? 1.0f : 0.0f;
            if (right - left > 0.5f)
                draw_state(ui, {left, strip.y, right - left - hair, strip.h}, static_cast<StallReason>(before));
        }
        before = state;
        run_from = cycle;
    }
}

void draw_sms(Ui& ui, const HomeKernel& kernel, const Rect& area) {
    const Theme& t = *ui.theme;
    const MachineScene& scene = *kernel.scene;
    const auto sms = static_cast<int>(std::max<uint32_t>(1, kernel.run->gpu.sms));
    const int columns = std::max(
                  1, static_cast<int>(std::ceil(std::sqrt(static_cast<float>(sms) * area.w / std::max(1.0f, area.h))))),
              rows = (sms + columns - 1) / columns;
    const float pitch = std::min({area.w / static_cast<float>(columns), area.h / static_cast<float>(rows), 26.0f});
    const auto cycle = static_cast<int64_t>(kernel.clock);
    constexpr int64_t window = 16;
    const bool kept = scene.machine != nullptr && issues_kept(scene, cycle);
    for (int sm = 0; sm < sms; ++sm) {
        const Rect tile{area.x + pitch * static_cast<float>(sm % columns), area.y + pitch * static_cast<float>(sm / columns),
                        pitch - 2, pitch - 2};
        const TileState state = blocks_on(scene, static_cast<uint32_t>(sm), cycle);
        const bool works = std::any_of(state.resident.begin(), state.resident.end(),
                                       [](uint32_t block) { return block != TileState::nobody; });
        ui.rect(tile, works ? mix(t.panel2, data::green, 0.12f) : t.panel2);
        if (!kept || !works) continue;
        const auto issued =
            issues_of_sm(scene, static_cast<uint32_t>(sm), std::max<int64_t>(0, cycle - window), cycle).size();
        const float share = std::min(1.0f, static_cast<float>(issued) / static_cast<float>(2 * window));
        if (share > 0) ui.rect({tile.x, tile.bottom() - tile.h * share, tile.w, tile.h * share}, data::green);
    }
    if (kernel.run->result.trace.sm < static_cast<uint32_t>(sms)) {  // the one whose warps stand at the left
        const int sm = static_cast<int>(kernel.run->result.trace.sm);
        ui.frame({area.x + pitch * static_cast<float>(sm % columns) - 1,
                  area.y + pitch * static_cast<float>(sm / columns) - 1, pitch, pitch},
                 t.ink, 1);
    }
}

void draw_rate(Ui& ui, float x, float y, float w, std::string_view name, double share) {
    const Theme& t = *ui.theme;
    ui.text(x, y + 9, name, {.size = 12, .color = t.ink2});
    const Rect bar{x + 42, y + 1, w - 42 - 36, 8};
    ui.rect(bar, t.panel2);
    ui.rect({bar.x, bar.y, bar.w * static_cast<float>(std::clamp(share, 0.0, 1.0)), bar.h}, data::sky);
    ui.text(x + w, y + 9, fmt::format("{:.0f} %", 100 * share), {.size = 12, .color = t.ink2, .align = Align::right});
}

// What the colours stand for, of those that are in sight, the most frequent first.
void draw_states_seen(Ui& ui, const std::vector<int64_t>& seen, const Rect& area) {
    static constexpr std::pair<StallReason, std::string_view> words[] = {
        {StallReason::selected, "issues"},        {StallReason::not_selected, "ready"},
        {StallReason::long_scoreboard, "memory"}, {StallReason::short_scoreboard, "shared"},
        {StallReason::barrier, "barrier"},        {StallReason::wait, "result"}};
    std::vector<size_t> order;
    for (size_t s = 0; s < seen.size(); ++s)
        if (seen[s] > 0) order.push_back(s);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return seen[a] > seen[b]; });
    float x = area.x + 16;
    for (const size_t s : order) {
        const auto reason = static_cast<StallReason>(s);
        std::string_view name = code_of(reason).brief;
        for (const auto& [one, word] : words)
            if (one == reason) name = word;
        const float w = ui.text_width(name, {.size = 12}) + 29;
        if (x + w > area.right() - 8) break;
        draw_state(ui, {x, area.bottom() - 15, 11, 11}, reason);
        ui.text(x + 15, area.bottom() - 5, name, {.size = 12, .color = ui.theme->ink2});
        x += w;
    }
}

}  // namespace

void HomeKernel::adopt(const Session& session, const Snapshot& snapshot) {
    const auto& newest = snapshot.kernel.run;
    if (!newest || newest == run) return;
    // The desk's kernel runs for its own tile.
    if (run && session.home.own == HomeLook::Own::asked && snapshot.source == Source::own) return;
    // The steps of a training run bring a kernel each: the first goes on.
    if (run && snapshot.source == Source::training && newest->program == run->program && newest->gpu.name == run->gpu.name)
        return;
    if (newest->result.trace.warps.empty()) return;
    run = newest;
    label = snapshot.kernel.label.empty() ? std::string(run->program->shown_name()) : snapshot.kernel.label;
    scene = std::make_unique<MachineScene>(make_machine_scene(run, session.timeline(run)));
    const KernelTrace& trace = run->result.trace;
    Focus ignored;
    const int64_t first = trace.truncated ? trace.kept_from : 0, last = trace.truncated ? trace.kept_until : trace.cycles;
    constexpr int64_t stretch = 480;
    begin = std::clamp(focus_first(*scene->timeline, ignored, stretch / 2) - 20, first, std::max(first, last - 1));
    end = std::max(begin + 1, std::min(last, begin + stretch));
    clock = static_cast<double>(std::min(end - 1, begin + stretch / 4));
}

void HomeKernel::play(double seconds) {
    clock += seconds * home_cycles_a_second;
    if (clock >= static_cast<double>(end) || clock < static_cast<double>(begin)) clock = static_cast<double>(begin);
}

void draw_machine_tile(const HomeFrame& frame, const HomeKernel& kernel, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    if (!kernel.run) {
        ui.text(area.x + 16, area.y + 20, "The GPU", {.size = 13, .weight = 600});
        const std::string doing = frame.snapshot.busy.empty() ? "Nothing runs." : frame.snapshot.busy + " ...";
        ui.text(area.x + area.w / 2, area.y + area.h / 2, doing,
                {.size = 13, .color = t.ink2, .align = Align::center, .width = area.w - 32});
        return;
    }
    const auto now = static_cast<int64_t>(kernel.clock);
    ui.text(area.x + 16, area.y + 20, "cycle " + with_commas(now), {.size = 13, .weight = 600});
    const float sms = area.w >= 420 ? 132.0f : 0.0f;
    const Rect rows{area.x + 66, area.y + 32, area.w - 66 - 18 - (sms > 0 ? sms + 22 : 0), 120};
    const auto shown = rows_shown(kernel);
    ui.rect(rows, t.panel);
    float y = rows.y;
    std::vector<int64_t> seen(state_count, 0);  // cycles in each state
    for (size_t i = 0; i < shown.size(); ++i) {
        if (i > 0 && shown[i]->scheduler != shown[i - 1]->scheduler) ui.rect({rows.x, y, rows.w, 4}, t.code), y += 4;
        const int warp = warp_at(kernel.scene->trace(), *shown[i], now);
        ui.text(rows.x - 8, y + 11, fmt::format("slot {}", shown[i]->slot),
                {.size = 12, .color = warp >= 0 ? t.ink2 : t.quiet, .align = Align::right});
        draw_row(ui, kernel, *shown[i], {rows.x, y, rows.w, 13}, seen);
        y += 14.5f;
    }
    ui.cursor_line(rows.right() - 1, rows.y - 4, rows.bottom());
    if (sms > 0) {
        const float x = area.right() - 16 - sms;
        ui.text(x, area.y + 44, fmt::format("{} SMs issue", kernel.run->gpu.sms.value), {.size = 12, .color = t.ink2});
        draw_sms(ui, kernel, {x, area.y + 52, sms, 70});
        const Rates rates = rates_in(*kernel.scene, now, now + 1);
        draw_rate(ui, x, area.y + 128, sms, "L2", rates.l2);
        draw_rate(ui, x, area.y + 143, sms, "DRAM", rates.dram);
    }
    draw_states_seen(ui, seen, area);
}

}  // namespace lockstep::gui
