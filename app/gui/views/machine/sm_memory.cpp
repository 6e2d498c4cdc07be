// The memory side of an SM in the machine's picture: how L1 and shared memory share their bytes and where loads were served,
// the pipe of shared memory with the banks of an access, the misses that are out, and the door to the crossbar.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/memory/bank_data.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"

namespace lockstep::gui {

std::vector<uint32_t> own_requests(const MachineFrame& frame) {
    std::vector<uint32_t> own;
    for (const uint32_t i : requests_at(*frame.scene, frame.clock))
        if (frame.scene->machine->requests[i].sm == frame.scene->trace().sm) own.push_back(i);
    return own;
}

namespace {

constexpr int64_t looks_back = 2000;  // cycles over which it is told who served the loads

// Who served the sectors that the traced SM's loads wanted, lately: L1, L2, memory.
struct Served {
    std::array<int64_t, 3> sectors{};
    int64_t all() const { return sectors[0] + sectors[1] + sectors[2]; }
};
Served served_lately(const MachineFrame& frame) {
    Served served;
    const auto& requests = frame.scene->machine->requests;
    auto at = std::lower_bound(requests.begin(), requests.end(), frame.cycle() - looks_back,
                               [](const RequestRecord& r, int64_t c) { return r.begin < c; });
    for (; at != requests.end() && at->begin <= frame.cycle(); ++at) {
        if (at->sm != frame.scene->trace().sm || at->kind != RequestKind::load) continue;
        const int64_t wanted = std::popcount(at->wanted);
        if (at->level == MemoryLevel::l1) {
            served.sectors[0] += wanted;
        } else {
            const int64_t hits = std::min<int64_t>(wanted, at->hits);
            served.sectors[1] += hits, served.sectors[2] += wanted - hits;
        }
    }
    return served;
}

void draw_served_bar(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Served served = served_lately(frame);
    const int64_t all = served.all();
    ui.rect(r, ui.theme->grid);
    static constexpr std::pair<Color, Hatch> looks[] = {
        {data::green, Hatch::solid}, {data::sky, Hatch::diagonal}, {data::blue, Hatch::cross}};
    float x = r.x;
    for (size_t i = 0; i < 3 && all > 0; ++i) {
        const float w = r.w * static_cast<float>(served.sectors[i]) / static_cast<float>(all);
        if (w > 0) ui.hatch({x, r.y, w, r.h}, looks[i].first, looks[i].second);
        x += w;
    }
    const std::string memory(name_of(frame.scene->run->gpu.dram_kind.value));
    const std::string_view names[] = {"L1", "L2", memory};
    if (all == 0) {
        ui.text(r.x, r.y - 5, "no loads lately", {.size = 12, .color = ui.theme->quiet});
        return;
    }
    float from = r.x;
    for (size_t i = 0; i < 3; ++i) {
        if (i == 1 && !frame.scene->has_l2()) continue;
        const std::string text =
            fmt::format("{} {:.0f} %", names[i], 100 * static_cast<double>(served.sectors[i]) / static_cast<double>(all));
        const float w = ui.text_width(text, {.size = 12});
        if (from + 14 + w > r.right() + 1) break;
        ui.hatch({from, r.y - 14, 9, 9}, looks[i].first, looks[i].second);
        ui.text(from + 13, r.y - 5, text, {.size = 12, .color = ui.theme->ink2});
        from += w + 22;
    }
    if (!frame.still && ui.hovered({r.x, r.y - 16, r.w, r.h + 16}))
        ui.tooltip(
            fmt::format("who served the sectors that this SM's loads wanted in the last {}", counted(looks_back, "cycle")));
}

void draw_split(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const model::KernelRun& run = *frame.scene->run;
    ui.frame(r, t.line, 1, 4);
    const float title = ui.text(r.x + 8, r.y + 19, "L1 and shared memory", {.size = 13, .weight = 600});
    const auto& totals = run.result.totals;
    const auto a_block = static_cast<uint32_t>(ptx::shared_bytes(*run.program, run.config.dynamic_shared));
    const auto shared = static_cast<float>(a_block * totals.blocks_per_sm);
    const auto l1 = static_cast<float>(totals.l1_bytes);
    const float all = std::max(1.0f, l1 + shared);
    if (const std::string text = bytes_text(l1 + shared); title + ui.text_width(text, {.size = 12}) + 12 < r.right())
        ui.text(r.right() - 8, r.y + 19, text, {.size = 12, .color = t.ink2, .align = Align::right});
    const float spare = std::max(0.0f, r.h - 142);  // shared out to the three bars
    const Rect bar{r.x + 8, r.y + 28, r.w - 16, 20 + spare * 0.25f};
    const float w = bar.w * l1 / all;
    ui.rect({bar.x, bar.y, w, bar.h}, data::blue);
    ui.hatch({bar.x + w, bar.y, bar.w - w, bar.h}, data::yellow, Hatch::dots);
    const float base = bar.y + bar.h / 2 + 5;
    if (l1 > 0)
        ui.text(bar.x + 6, base, "L1 " + bytes_text(l1),
                {.size = 12, .color = text_on(data::blue), .width = std::max(1.0f, w - 10)});
    const Rect loads{bar.x, bar.bottom() + 24, bar.w, 8 + spare * 0.15f};
    draw_served_bar(frame, loads);
    const float y = loads.bottom() + 8 + spare * 0.1f;
    const TileState state = blocks_on(*frame.scene, frame.scene->trace().sm, frame.cycle());
    const auto slots = state.resident.size();
    const float pitch = bar.w / static_cast<float>(std::max<size_t>(1, slots));
    const std::string of_blocks =
        shared > 0 ? fmt::format("shared {}, {} a block", bytes_text(shared), bytes_text(static_cast<float>(a_block)))
                   : std::string("no shared memory; blocks here");
    ui.text(bar.x, y + 11, of_blocks, {.size = 12, .color = t.ink2, .width = bar.w});
    const float cell_h = std::max(18.0f, r.bottom() - 10 - y - 18);
    for (size_t i = 0; i < slots; ++i) {
        const Rect cell{bar.x + pitch * static_cast<float>(i), y + 18, pitch - 2, cell_h};
        const uint32_t block = state.resident[i];
        ui.rect(cell, block == TileState::nobody ? t.grid : mix(t.panel2, data::sky, 0.35f));
        const std::string text = std::to_string(block);
        if (block != TileState::nobody && ui.text_width(text, {.size = 12, .mono = true}) < cell.w - 2)
            ui.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + 4.5f, text,
                    {.size = 12, .align = Align::center, .mono = true});
    }
}

// The access to shared memory that the focused warp issued last, up to the clock.
const simt::WarpAccess* last_shared_access(const MachineFrame& frame) {
    const auto& history = frame.snapshot.kernel.history;
    const WarpNow w = warp_now(frame);
    if (!history || w.now == nullptr) return nullptr;
    const int64_t last = w.state.issue != nullptr ? w.step : w.step - 1;
    const auto& accesses = history->accesses;
    auto at = std::upper_bound(accesses.begin(), accesses.end(), last,
                               [](int64_t step, const simt::WarpAccess& a) { return step < static_cast<int64_t>(a.step); });
    while (at != accesses.begin())
        if (--at; at->space == ptx::Space::shared && at->lanes != 0) return &*at;
    return nullptr;
}

// Its banks, in the foot of the box. Returns what is left above it.
float draw_last_banks(const MachineFrame& frame, const Rect& r, float y) {
    Ui& ui = frame.ui;
    if (r.bottom() - y < 74 || r.w < 200) return r.bottom();
    const simt::WarpAccess* const access = last_shared_access(frame);
    if (access == nullptr) return r.bottom();
    const BankFacts facts = bank_facts(pattern_of(*access), access->is_atomic);
    const float top = std::max(y + 2, r.bottom() - 110);
    const WarpTrack& warp = frame.scene->trace().warps[focused_warp(frame)];
    const std::string text =
        fmt::format("w{} {} {} in {}", warp.slot,
                    access->is_atomic  ? "changes"
                    : access->is_store ? "writes"
                                       : "reads",
                    counted(facts.words.size(), "word"), counted(facts.passes.size(), "pass", "passes"));
    const float end = ui.text(r.x + 8, top + 12, "32 banks", {.size = 12, .color = ui.theme->quiet});
    ui.text(r.right() - 8, top + 12, text,
            {.size = 12, .color = ui.theme->ink2, .align = Align::right, .width = r.right() - end - 20});
    draw_banks(ui, {r.x + 8, top + 18, r.w - 16, r.bottom() - top - 22}, facts);
    return top;
}

// Where there is room: what the pipe served before, the last first.
void draw_served(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    if (r.h < 70 || r.w < 190) return;
    const KernelTrace& trace = frame.scene->trace();
    const int64_t cycle = frame.cycle();
    auto at = std::upper_bound(trace.issues.begin(), trace.issues.end(), cycle,
                               [](int64_t c, const IssueRecord& issue) { return c < issue.cycle; });
    float y = r.y + 8;
    const float first = y;
    for (int looked = 0; at != trace.issues.begin() && y + 36 < r.bottom() && looked < 4000; ++looked) {
        --at;
        if (at->passes == 0 || at->folded || std::max(at->ready, at->cycle + at->passes) > cycle) continue;
        if (y == first) ui.text(r.x + 8, y + 12, "served before", {.size = 12, .color = t.quiet}), y += 17;
        const float end = ui.text(r.x + 8, y + 12,
                                  fmt::format("{:>9} {}{}", with_commas(at->cycle),
                                              letter_of(*frame.scene->timeline, at->pc), trace.warps[at->warp].slot),
                                  {.size = 12, .color = t.ink2, .mono = true});
        const float pitch = std::min(8.0f, (r.right() - 90 - end - 12) / static_cast<float>(at->passes));
        for (int k = 0; k < at->passes && pitch > 0; ++k)
            ui.rect({end + 12 + pitch * static_cast<float>(k), y + 3, std::max(1.0f, pitch - 1), 9},
                    faded(data::yellow, 0.45f));
        ui.text(r.right() - 8, y + 12, at->passes == 1 ? "1 pass" : fmt::format("{} passes", at->passes),
                {.size = 12, .color = t.quiet, .align = Align::right});
        y += 16;
    }
}

// The accesses to shared memory that the pipe serves now, a column a pass.
void draw_shared(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const KernelTrace& trace = frame.scene->trace();
    ui.frame(r, t.line, 1, 4);
    ui.text(r.x + 8, r.y + 19, "shared memory pipe", {.size = 13, .weight = 600});
    const int64_t cycle = frame.cycle(), latency = frame.scene->run->gpu.shared_latency;
    auto at = std::upper_bound(trace.issues.begin(), trace.issues.end(), cycle,
                               [](int64_t c, const IssueRecord& issue) { return c < issue.cycle; });
    float y = r.y + 30;
    int shown = 0;
    while (at != trace.issues.begin() && y + 16 < r.bottom() && shown < 3) {
        --at;
        if (at->cycle < cycle - 400) break;
        if (at->passes == 0 || at->folded) continue;
        const int64_t end = std::max(at->ready, at->cycle + at->passes);
        if (end <= cycle) continue;
        // Its last pass begins a latency before the value is there.
        const int64_t first = std::max(at->cycle, at->ready - latency - (at->passes - 1));
        const auto done = static_cast<int>(std::clamp<int64_t>(cycle - first + 1, 0, at->passes));
        ui.text(r.x + 8, y + 12, fmt::format("{}{}", letter_of(*frame.scene->timeline, at->pc), trace.warps[at->warp].slot),
                {.size = 12, .mono = true});
        const float pitch = std::min(10.0f, (r.w - 150) / static_cast<float>(at->passes));
        for (int k = 0; k < at->passes; ++k)
            ui.rect({r.x + 50 + pitch * static_cast<float>(k), y + 2, std::max(1.0f, pitch - 1), 11},
                    k < done ? data::yellow : t.grid);
        ui.text(r.right() - 8, y + 12, at->passes == 1 ? "1 pass" : fmt::format("{} passes, {}-way", at->passes, at->passes),
                {.size = 12, .color = t.ink2, .align = Align::right});
        y += 16;
        ++shown;
    }
    if (shown == 0) ui.text(r.x + 8, y + 14, "nothing is under way", {.size = 12, .color = t.quiet}), y += 20;
    const float until = draw_last_banks(frame, r, y);
    draw_served(frame, {r.x, y, r.w, until - y});
}

// Where there is room: the misses that came home last, each with its way and how long it took.
void draw_home(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    if (r.h < 56 || r.w < 260) return;
    const MachineScene& scene = *frame.scene;
    const auto& requests = scene.machine->requests;
    const int64_t cycle = frame.cycle();
    const auto until = std::upper_bound(requests.begin(), requests.end(), cycle,
                                        [](int64_t c, const RequestRecord& q) { return c < q.begin; });
    std::vector<const RequestRecord*> home;
    for (auto at = until; at != requests.begin() && until - at < 20'000 && home.size() < 200;)
        if (--at; at->sm == scene.trace().sm && at->kind != RequestKind::store && at->level != MemoryLevel::l1 &&
                  at->end() <= cycle)
            home.push_back(&*at);
    std::stable_sort(home.begin(), home.end(), [](const auto* a, const auto* b) { return a->end() > b->end(); });
    if (home.empty()) return;
    ui.text(r.x + 8, r.y + 12, "came home last", {.size = 12, .color = t.quiet});
    float y = r.y + 17;
    for (const RequestRecord* const q : home) {
        if (y + 18 > r.bottom()) break;
        const float end = ui.text(r.x + 8, y + 12, fmt::format("{:>9}", with_commas(q->end())),
                                  {.size = 12, .color = t.ink2, .mono = true});
        ui.text(end + 12, y + 12, way_text(scene, *q), {.size = 12, .color = t.ink2, .width = r.right() - end - 20});
        y += 16;
    }
}

void draw_tickets(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const std::vector<uint32_t> own = own_requests(frame);
    const auto waiting = std::count_if(
        own.begin(), own.end(), [&](uint32_t i) { return frame.scene->machine->requests[i].kind != RequestKind::store; });
    ui.frame(r, t.line, 1, 4);
    ui.text(r.x + 8, r.y + 19, "waiting misses (MSHR)", {.size = 13, .weight = 600});
    ui.text(r.right() - 8, r.y + 19, fmt::format("{} of {}", waiting, frame.scene->run->gpu.l1_mshrs.value),
            {.size = 12, .color = t.ink2, .align = Align::right});
    const int columns = std::max(1, static_cast<int>((r.w - 12) / 41));
    const int rows = std::max(1, static_cast<int>((r.h - 30 - (frame.session.machine.followed >= 0 ? 32.0f : 0.0f)) / 19));
    const uint32_t focused = focused_warp(frame);
    int k = 0;
    for (const uint32_t i : own) {
        const RequestRecord& q = frame.scene->machine->requests[i];
        if (q.kind == RequestKind::store) continue;
        if (k >= columns * rows) break;
        const Rect box{r.x + 8 + 41.0f * static_cast<float>(k % columns), r.y + 27 + 19.0f * static_cast<float>(k / columns),
                       38, 16};
        ui.rect(box, t.panel2);
        const double share =
            std::clamp((frame.clock - static_cast<double>(q.begin)) / std::max(1.0, static_cast<double>(q.ready)), 0.0, 1.0);
        ui.rect({box.x, box.bottom() - 2, box.w * static_cast<float>(share), 2}, data::orange);
        const bool mine = q.issue >= 0 && frame.scene->trace().issues[static_cast<size_t>(q.issue)].warp == focused;
        if (q.issue >= 0)
            ui.text(
                box.x + box.w / 2, box.y + 12,
                fmt::format("{} {}",
                            frame.scene->trace().warps[frame.scene->trace().issues[static_cast<size_t>(q.issue)].warp].slot,
                            letter_of(*frame.scene->timeline, q.pc)),
                {.size = 12, .align = Align::center, .weight = mine ? 700 : 400, .mono = true});
        if (mine || frame.session.machine.followed == static_cast<int64_t>(i)) ui.frame(box, t.ink, 1.5f);
        ++k;
        if (frame.still || !ui.hovered(box)) continue;
        ui.tooltip(request_text(*frame.scene, q) + "\nclick to follow it");
        if (ui.clicked(box)) frame.session.machine.followed = static_cast<int64_t>(i);
    }
    if (waiting == 0) ui.text(r.x + 8, r.y + 42, "none is out", {.size = 12, .color = t.quiet});
    const int64_t followed = frame.session.machine.followed;
    const float below = r.y + 27 + 19.0f * static_cast<float>(std::max(1, (k + columns - 1) / columns)) + 6;
    draw_home(frame, {r.x, below, r.w, r.bottom() - below - (followed >= 0 ? 32.0f : 0.0f)});
    if (followed < 0 || followed >= static_cast<int64_t>(frame.scene->machine->requests.size())) return;
    const RequestRecord& q = frame.scene->machine->requests[static_cast<size_t>(followed)];
    if (frame.cycle() < q.begin || frame.cycle() >= q.end()) return;
    double share = 0;
    const Station at = stations_of(*frame.scene->machine, q).station_at(frame.clock, share);
    const float base = r.bottom() - 10, chip = ui.chip_width("bring it home");
    ui.text(r.x + 8, base, fmt::format("{}: {} of {}", name_of(at), frame.cycle() - q.begin, q.ready),
            {.size = 12, .weight = 600, .width = r.w - chip - 28});
    float x = r.right() - chip - 8;
    if (ui.chip(x, base - 18, "bring it home") && !frame.still) bring_home(frame);
}

void draw_door(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.frame(r, t.line, 1, 4);
    ui.text(r.x + 8, r.y + 19, "crossbar", {.size = 13, .weight = 600});
    const float grown = std::max(0.0f, (r.h - 140) * 0.4f), out = r.y + 52 + grown, in = out + 48 + grown;
    ui.text(r.x + 8, out - 12, "out", {.size = 12, .color = t.ink2});
    ui.text(r.x + 8, in - 12, "in", {.size = 12, .color = t.ink2});
    for (const float y : {out, in}) ui.rect({r.x + 8, y - 1, r.w - 16, 2}, t.line);
    for (const uint32_t i : own_requests(frame)) {
        const RequestRecord& q = frame.scene->machine->requests[i];
        double share = 0;
        const Station at = stations_of(*frame.scene->machine, q).station_at(frame.clock, share);
        const auto way = static_cast<float>(share);
        const Color color = q.kind == RequestKind::store    ? data::yellow
                            : q.kind == RequestKind::atomic ? data::purple
                                                            : data::sky;
        if (at == Station::crossbar) ui.circle({r.x + 10 + (r.w - 20) * way, out}, 3.5f, color);
        if (at == Station::back) ui.ring({r.right() - 10 - (r.w - 20) * way, in}, 3.5f, color, 1.5f);
    }
    if (r.h > 130)
        ui.text(r.x + 8, r.bottom() - 8,
                fmt::format("{:.0f} B a cycle", double{frame.scene->run->gpu.sm_read_bytes_per_cycle.value}),
                {.size = 12, .color = t.quiet, .width = r.w - 12});
}

}  // namespace

void draw_sm_memory(const MachineFrame& frame, const std::array<Rect, 4>& boxes) {
    draw_split(frame, boxes[0]);
    draw_shared(frame, boxes[1]);
    draw_tickets(frame, boxes[2]);
    draw_door(frame, boxes[3]);
}

}  // namespace lockstep::gui
