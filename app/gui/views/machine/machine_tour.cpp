#include "app/gui/views/machine/machine_tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/many/cluster_step.h"
#include "app/gui/views/sm/warp_facts.h"
#include "core/base/units.h"
#include "core/scene/cluster/cluster_plan.h"

namespace lockstep::gui {
namespace {

constexpr double moving = 0.6;  // seconds from one stop to the next

bool has_stop(Stop stop) {
    return row_of(stop).stop == stop;
}

std::string of_gpu(const MachineFrame& frame) {
    const MachineScene& scene = *frame.scene;
    const WaitingBlocks queue = blocks_waiting(scene, frame.cycle());
    int64_t taken = 0;
    for (uint32_t sm = 0; sm < scene.run->gpu.sms; ++sm)
        for (const uint32_t block : blocks_on(scene, sm, frame.cycle()).resident) taken += block != TileState::nobody;
    std::string text = fmt::format("One GPU has {} SMs. This kernel's {} land on them", scene.run->gpu.sms.value,
                                   counted(scene.blocks, "block"));
    return text + (queue.waiting > 0 ? fmt::format(", {} at a time.", with_commas(taken)) : ", all at once.");
}

std::string of_sm(const MachineFrame& frame) {
    const uint32_t n = frame.scene->trace().schedulers;
    static constexpr std::string_view numbers[] = {"no", "one", "two", "three", "four"};
    return fmt::format("In one SM, {} scheduler{} pick{} one ready warp a cycle.",
                       n < std::size(numbers) ? std::string(numbers[n]) : std::to_string(n), n == 1 ? "" : "s each",
                       n == 1 ? "s" : "");
}

// What the warp waits for in the cycle, or waited for until a moment ago.
int64_t awaited_lately(const MachineScene& scene, uint32_t warp, int64_t cycle) {
    constexpr int64_t moment = 60;
    if (const int64_t now = awaited_request(scene, warp, cycle); now >= 0) return now;
    int64_t before = -1;
    for (const StallRun& wait : runs_in(scene.trace().warps[warp], std::max<int64_t>(0, cycle - moment), cycle))
        if (wait.reason == StallReason::long_scoreboard) before = awaited_request(scene, warp, wait.end - 1);
    return before;
}

std::string of_warp(const MachineFrame& frame) {
    const uint32_t warp = focused_warp(frame);
    if (warp == UINT32_MAX) return "32 lanes make a warp: they go through the program together.";
    if (const int64_t awaited = awaited_lately(*frame.scene, warp, frame.cycle()); awaited >= 0) {
        const RequestRecord& request = frame.scene->machine->requests[static_cast<size_t>(awaited)];
        return fmt::format("One warp waits {} for a load while the other warps work.", counted(request.ready, "cycle"));
    }
    return "32 lanes make a warp: they go through the program together.";
}

std::string of_lane(const MachineFrame& frame) {
    const uint32_t warp = focused_warp(frame);
    const KernelTrace& trace = frame.scene->trace();
    const IssueRecord* last = nullptr;
    if (warp != UINT32_MAX)
        for (const uint32_t i : trace.warps[warp].issues)
            if (trace.issues[i].cycle <= frame.cycle() && !trace.issues[i].folded) last = &trace.issues[i];
    const auto& instructions = frame.scene->run->program->instructions;
    if (last == nullptr || instructions[last->pc].opcode == nullptr ||
        instructions[last->pc].opcode->facts.counts != ptx::Counts::multiply_add)
        return lane_sentence(frame);
    return fmt::format("One lane multiplies two numbers and adds a third, and {} cycles later the answer is there.",
                       last->ready - last->cycle);
}

std::string of_cluster(const MachineFrame& frame) {
    const auto step = frame.session.cluster_step(frame.snapshot);
    const scene::ClusterScene* const shown = frame.snapshot.cluster.get();
    if (!step || !(step->end > 0) || shown == nullptr) return "A step of 16,384 GPUs is being planned.";
    const int64_t gpus = int64_t{step->replicas} * step->stages * step->group;
    const std::string model = step->title.substr(0, step->title.find(", on "));
    return fmt::format("{} train one model: {}. One step of it takes {}.", counted(gpus, "GPU"), model,
                       step_time_text(*step, step->end));
}

std::string of_node(const MachineFrame& frame) {
    const auto step = frame.session.cluster_step(frame.snapshot);
    if (!step) return "One node holds several GPUs that a fast link joins.";
    return step->group > 1 ? fmt::format("In one node, {} GPUs share every layer and add up their parts.", step->group)
                           : fmt::format("One node holds {} GPUs.", step->node_gpus);
}

const TourStop* tour_stop(Stop stop) {
    const auto stops = tour_stops();
    const auto at = std::find_if(stops.begin(), stops.end(), [&](const TourStop& one) { return one.stop == stop; });
    return at == stops.end() ? nullptr : &*at;
}
double speed_of(Stop stop) {  // cycles a second
    const TourStop* const at = tour_stop(stop);
    return at == nullptr ? 0 : at->speed;
}
double seconds_of(Stop stop) {
    const TourStop* const at = tour_stop(stop);
    return at == nullptr ? 0 : at->seconds;
}

// Where the tour looks: the GPU is at its busiest, a warp's long wait comes to its end, and later that warp multiplies and
// adds. Each begins so that what is told happens while one looks.
struct TourCycles {
    double busy = 0, sm = 0, wait = 0, multiply = 0;
    uint32_t warp = 0;
};
constexpr double comes_home_after = 2.6, answer_after = 2.2;  // seconds at the stop
TourCycles cycles_of_tour(const model::KernelRun& run) {
    const KernelTrace& trace = run.result.trace;
    const model::Windows& windows = run.result.windows;
    TourCycles found;
    int64_t busy = 0;
    uint64_t most = 0;
    for (size_t w = 0; w < windows.totals.size() * 3 / 4; ++w) {
        const uint64_t sectors = windows.counters.total(w).l2_sectors;
        if (sectors <= most) continue;
        most = sectors;
        busy = std::max<int64_t>(0, static_cast<int64_t>(w) * windows.length - 60);
    }
    StallRun wait{busy, busy};
    for (size_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& stall : trace.warps[w].runs) {
            const bool near = stall.begin >= busy && stall.begin < busy + 2000;
            if (stall.reason != StallReason::long_scoreboard || !near || stall.end - stall.begin <= wait.end - wait.begin)
                continue;
            wait = stall;
            found.warp = static_cast<uint32_t>(w);
        }
    const auto begins = static_cast<double>(wait.begin);
    found.busy = static_cast<double>(busy);
    found.wait = std::max(begins, static_cast<double>(wait.end) - comes_home_after * speed_of(Stop::warp));
    found.sm = std::max(begins, found.wait - seconds_of(Stop::sm) * speed_of(Stop::sm));
    found.multiply = found.wait;
    if (found.warp >= trace.warps.size()) return found;
    // One that nothing of its warp follows at once, so that it can be watched; else the one that is followed last.
    constexpr int64_t watched = 7;
    const std::vector<uint32_t>& issues = trace.warps[found.warp].issues;
    int64_t alone = -1;
    for (size_t k = 0; k < issues.size() && alone < watched; ++k) {
        const IssueRecord& issue = trace.issues[issues[k]];
        const ptx::DecodedInstruction& instruction = run.program->instructions[issue.pc];
        if (issue.cycle <= wait.begin || issue.folded || instruction.opcode == nullptr) continue;
        if (instruction.opcode->facts.counts != ptx::Counts::multiply_add) continue;
        const int64_t gap = k + 1 < issues.size() ? trace.issues[issues[k + 1]].cycle - issue.cycle : watched;
        if (gap <= alone) continue;
        alone = gap;
        // The answer is there in the last cycle of its latency.
        const double waits = static_cast<double>(issue.ready - issue.cycle) - 1 - answer_after * speed_of(Stop::lane);
        found.multiply = static_cast<double>(issue.cycle) + std::max(0.0, waits);
    }
    return found;
}

}  // namespace

std::span<const TourStop> tour_stops() {
    static const std::vector<TourStop> stops = [] {
        const std::array<TourStop, 6> all = {{{Stop::cluster, 4, "1 s", 0, 1e6, of_cluster},
                                              {Stop::node, 3, "10 ms", 0, 1e4, of_node},
                                              {Stop::gpu, 3, "100 cycles", 100, 0, of_gpu},
                                              {Stop::sm, 3, "10 cycles", 10, 0, of_sm},
                                              {Stop::warp, 4, "10 cycles", 10, 0, of_warp},
                                              {Stop::lane, 3, "1 cycle", 1, 0, of_lane}}};
        std::vector<TourStop> there;
        for (const TourStop& stop : all)
            if (has_stop(stop.stop)) there.push_back(stop);
        return there;
    }();
    return stops;
}

double tour_seconds() {
    double sum = 0;
    for (const TourStop& stop : tour_stops()) sum += stop.seconds;
    return sum;
}

TourMoment tour_at(double seconds) {
    const std::span<const TourStop> stops = tour_stops();
    TourMoment moment;
    moment.share = std::clamp(seconds / std::max(1e-9, tour_seconds()), 0.0, 1.0);
    double begin = 0;
    while (moment.at + 1 < stops.size() && seconds >= begin + stops[moment.at].seconds) begin += stops[moment.at++].seconds;
    moment.zoom = static_cast<double>(stops[moment.at].stop);
    if (moment.at + 1 == stops.size()) return moment;
    const double left = begin + stops[moment.at].seconds - seconds;
    if (left >= moving) return moment;
    const double next = static_cast<double>(stops[moment.at + 1].stop);
    moment.zoom += (next - moment.zoom) * std::clamp(1 - left / moving, 0.0, 1.0);
    return moment;
}

void begin_tour(Session& session) {
    session.workspace = Workspace::machine;
    session.machine = {};
    session.machine.tour = 0;
    session.machine.zoom = session.machine.wanted = tour_at(0).zoom;
    session.playing = true;
    // The largest of the published plans: it is planned, the rest of the tour is a run.
    scene::ClusterSetup planned = scene::machine_cluster();
    planned.plan = scene::within_limits(scene::published_plans().back().setup());
    session.cluster.time = -1;
    ask_cluster(session, planned);
}

bool go_on_tour(Session& session, Focus& focus, const Snapshot& snapshot, double seconds) {
    MachineLook& look = session.machine;
    if (look.tour < 0) return false;
    if (!snapshot.kernel.run || !snapshot.kernel.run->result.trace.machine) return true;  // it waits for its kernel
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    const bool begins = look.tour == 0;
    const size_t before = tour_at(look.tour).at;
    look.tour += std::max(seconds, 1e-6);
    const TourMoment now = tour_at(look.tour);
    look.zoom = look.wanted = now.zoom;
    if (begins || now.at != before) {
        const TourStop& stop = tour_stops()[now.at];
        const TourCycles cycles = cycles_of_tour(*snapshot.kernel.run);
        if (!trace.warps.empty()) focus.warp = static_cast<int32_t>(std::min<size_t>(cycles.warp, trace.warps.size() - 1));
        look.clock = stop.stop < Stop::sm     ? cycles.busy
                     : stop.stop < Stop::warp ? cycles.sm
                     : stop.stop < Stop::lane ? cycles.wait
                                              : cycles.multiply;
        if (const auto step = session.cluster_step(snapshot); step && stop.stop < Stop::gpu)
            session.cluster.time = step->end * (stop.stop == Stop::cluster ? 0.2 : 0.45);
        look.speed = stop.speed;
        look.cluster_speed = stop.microseconds;
        set_clock(session, focus, trace, static_cast<int64_t>(look.clock));
    }
    if (look.tour < tour_seconds()) return true;
    look.tour = -1;
    look.speed = look.cluster_speed = 0;
    look.zoom = look.wanted = static_cast<double>(tour_stops().back().stop);
    session.playing = false;
    return false;
}

bool play_tour(Session& session, Focus& focus, const Snapshot& snapshot, double seconds) {
    if (!go_on_tour(session, focus, snapshot, seconds)) return false;
    if (machine_at_cluster(session))
        play_cluster_step(session, snapshot, seconds);
    else if (plays_machine(session, snapshot))
        play_machine(session, focus, snapshot, seconds);
    return true;
}

void look_at_a_number(const MachineFrame& frame) {
    if (frame.scene == nullptr || frame.session.machine.zoom < static_cast<double>(Stop::lane)) return;
    const WarpNow warp = warp_now(frame);
    const LaneNow lane = lane_now(frame, warp);
    const KeptLanes::Values values = lane.before ? lane.before : lane.needs_before ? nullptr : lane.after;
    if (!values || lane.issue == nullptr) return;
    const auto numbers_in = [&](int k) {  // sources that are not 0
        if ((lane.issue->active >> k & 1) == 0) return int64_t{-1};
        const auto arithmetic = arithmetic_of(*frame.scene->run->program, lane.issue->pc, *values, k);
        if (!arithmetic) return int64_t{-1};
        return std::ranges::count_if(arithmetic->sources, [](const LaneValue& v) { return v.bits != 0; });
    };
    int best = lane.lane;
    int64_t most = numbers_in(best);
    for (int k = 0; k < 32; ++k)
        if (const int64_t n = numbers_in(k); n > most) most = n, best = k;
    frame.focus.lane = best;
}

void draw_tour_head(const MachineFrame& frame, const Rect& bar) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.rect(bar, t.panel, 4);
    ui.frame(bar, t.line, 1, 4);
    ui.text(bar.x + 14, bar.y + 27, "Tour: from a cluster to one multiplication", {.size = 16, .weight = 600});
    const float w = std::min(400.0f, bar.w * 0.3f), x = bar.right() - w - 130;
    float at = x;
    double begin = 0;
    for (const TourStop& stop : tour_stops()) {
        const float part = w * static_cast<float>(stop.seconds / tour_seconds());
        const auto done = static_cast<float>(std::clamp((frame.session.machine.tour - begin) / stop.seconds, 0.0, 1.0));
        ui.rect({at, bar.y + 18, part - 3, 7}, t.grid, 2);
        if (done > 0) ui.rect({at, bar.y + 18, std::max(1.0f, (part - 3) * done), 7}, t.accent, 2);
        at += part;
        begin += stop.seconds;
    }
    ui.text(x - 8, bar.y + 26, "0 s", {.size = 12, .color = t.quiet, .align = Align::right});
    ui.text(x + w + 6, bar.y + 26, fmt::format("{:.0f} s", tour_seconds()), {.size = 12, .color = t.quiet});
    float chip = bar.right() - 92;
    if (ui.chip(chip, bar.y + 8, "skip")) {
        frame.session.machine.tour = -1;
        frame.session.machine.wanted = frame.session.machine.zoom = std::round(frame.session.machine.zoom);
    }
}

void draw_tour_foot(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const TourMoment now = tour_at(frame.session.machine.tour);
    const TourStop& stop = tour_stops()[now.at];
    ui.rect(area, t.panel, 4);
    ui.frame(area, t.accent, 1.5f, 4);
    const std::string sentence = frame.scene == nullptr     ? "A real training step is being run."
                                 : stop.sentence != nullptr ? stop.sentence(frame)
                                                            : row_of(stop.stop).sentence(frame);
    const float clock = area.w > 900 ? 260 : 0;
    ui.paragraph({area.x + 20, area.y + 16, area.w - 40 - clock, area.h - 20}, sentence, {.size = 24, .weight = 600}, 34);
    if (clock <= 0) return;
    const Point centre{area.right() - clock + 10, area.y + area.h / 2};
    ui.ring(centre, 20, t.accent, 2);
    const double turn = frame.ui.now * 2 * 3.14159265 / 4;  // a hand that goes round, as a sign that time passes
    ui.line(centre, {centre.x + 14 * static_cast<float>(std::sin(turn)), centre.y - 14 * static_cast<float>(std::cos(turn))},
            t.accent, 2);
    const float end = ui.text(centre.x + 32, centre.y + 8, stop.clock, {.size = 24, .weight = 600});
    ui.text(end + 8, centre.y + 8, "a second", {.size = 13, .color = t.quiet});
}

}  // namespace lockstep::gui
