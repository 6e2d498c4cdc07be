#include "app/gui/views/machine/machine_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"
#include "core/model/issue/ticks.h"
#include "core/model/sample/sampling.h"

namespace lockstep::gui {
namespace {

// How many requests are on the way where three quarters of the moments that have any have fewer.
size_t many_on_the_way(const MachineScene& scene) {
    constexpr int64_t looks = 64;
    std::vector<size_t> counts;
    const int64_t from = scene.trace().truncated ? scene.trace().kept_from : 0,
                  until = scene.trace().truncated ? scene.trace().kept_until : scene.trace().cycles;
    for (int64_t k = 0; k < looks; ++k) {
        const int64_t cycle = from + (until - from) * (2 * k + 1) / (2 * looks);
        if (const size_t n = requests_at(scene, static_cast<double>(cycle)).size(); n > 0) counts.push_back(n);
    }
    size_t burst = 0;  // a launch's first moments are short and hold many
    const auto& requests = scene.machine->requests;
    for (int64_t k = 0; k < looks; ++k)
        if (const size_t n = requests.size() * static_cast<size_t>(2 * k + 1) / (2 * looks); n < requests.size())
            burst = std::max(burst, requests_at(scene, static_cast<double>(requests[n].begin)).size());
    if (counts.empty()) return burst / marks_in_a_burst;
    const auto at = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() * 3 / 4);
    std::nth_element(counts.begin(), at, counts.end());
    return std::max(*at, burst / marks_in_a_burst);
}

bool is_divergent(const MachineScene& scene, const WarpTrack& warp, size_t i) {
    const auto& issues = scene.trace().issues;
    const IssueRecord& now = issues[warp.issues[i]];
    const auto& program = scene.run->program->instructions;
    if (i == 0 || now.folded || now.pc >= program.size() || program[now.pc].guard != ptx::no_operand) return false;
    const IssueRecord& before = issues[warp.issues[i - 1]];
    if (before.pc >= program.size() || program[before.pc].kind != ptx::Kind::branch) return false;
    return now.active != before.active && std::popcount(now.active) < std::popcount(before.active);
}

// The mean over L2's slices of the share of [begin, end) in which they served.
double slices_busy(const QueueColumns& queues, int64_t begin, int64_t end) {
    double sum = 0;
    int64_t columns = 0;
    for (int64_t at = begin; at < end; at += queues.cycles_a_column, ++columns)
        for (uint32_t slice = 0; slice < queues.slices; ++slice) sum += static_cast<double>(queues.busy_at(at, slice));
    return sum / std::max(1.0, static_cast<double>(columns) * queues.slices);
}

std::vector<Rates> rates_of(const model::KernelRun& run) {
    const model::Windows& windows = run.result.windows;
    const MachineTrace* const machine = run.result.trace.machine.get();
    const bool recorded = machine != nullptr && machine->queues.cycles_a_column > 0 && machine->queues.slices > 0;
    std::vector<Rates> rates;
    if (windows.length <= 0) return rates;
    const double schedulers = static_cast<double>(run.gpu.sms.value) * run.gpu.sub_cores.value;
    for (size_t w = 0; w < windows.totals.size(); ++w) {
        const model::CycleTotals& totals = windows.totals[w];
        const int64_t begin = static_cast<int64_t>(w) * windows.length;
        const auto cycles =
            static_cast<double>(std::clamp<int64_t>(model::shown_cycles(run.result) - begin, 1, windows.length));
        Rates r;
        r.issue = static_cast<double>(totals.issued) / cycles / schedulers;
        r.l2 = recorded ? slices_busy(machine->queues, begin, begin + windows.length)
                        : static_cast<double>(totals.l2_reads + totals.l2_writes) / cycles /
                              (model::ticks_a_cycle * std::max<double>(1, run.gpu.l2_slices.value));
        r.dram = static_cast<double>(totals.dram_read + totals.dram_written) / cycles /
                 std::max(1e-9, run.result.totals.dram_bytes_per_cycle);
        rates.push_back(r);
    }
    return rates;
}

// By how often they issue; what never does is left out, unless nothing is kept.
std::vector<std::pair<char, std::string_view>> letters_by_use(const MachineScene& scene) {
    std::array<size_t, 128> uses{};
    for (const IssueRecord& issue : scene.trace().issues)
        if (!issue.folded) ++uses[static_cast<size_t>(letter_of(*scene.timeline, issue.pc)) % uses.size()];
    std::vector<std::pair<char, std::string_view>> letters(scene.timeline->letters.begin(), scene.timeline->letters.end());
    const auto used = [&](const auto& letter) { return uses[static_cast<size_t>(letter.first) % uses.size()]; };
    std::stable_sort(letters.begin(), letters.end(), [&](const auto& a, const auto& b) { return used(a) > used(b); });
    if (!letters.empty() && used(letters.front()) > 0 && !scene.trace().truncated)
        std::erase_if(letters, [&](const auto& letter) { return used(letter) == 0; });
    return letters;
}

FaultPlace fault_of(const model::KernelRun& run) {
    FaultPlace place;
    if (!run.result.fault) return place;
    const simt::Fault& fault = *run.result.fault;
    const KernelTrace& trace = run.result.trace;
    const simt::Dim3 grid = run.config.grid, threads = run.config.block;
    const uint64_t block = (uint64_t{fault.block.z} * grid.y + fault.block.y) * grid.x + fault.block.x,
                   thread = (uint64_t{fault.thread.z} * threads.y + fault.thread.y) * threads.x + fault.thread.x;
    place.cycle = trace.cycles - 1;
    for (const BlockRun& one : trace.blocks)
        if (one.block == block) place.sm = one.sm;
    for (size_t w = 0; w < trace.warps.size(); ++w)
        if (trace.warps[w].block == block && trace.warps[w].warp_in_block == thread / 32)
            place.warp = static_cast<int32_t>(w);
    place.text = fault.message.substr(0, fault.message.find(": "));  // without the reckoning behind it
    if (fault.line > 0) place.text += fmt::format(", at line {}", fault.line);
    place.text += fmt::format(", thread {} of block {}", with_commas(static_cast<int64_t>(thread)),
                              with_commas(static_cast<int64_t>(block)));
    if (place.sm >= 0) place.text += fmt::format(" on SM {}", place.sm);
    return place;
}

}  // namespace

std::string fault_sentence(const MachineScene& scene, int64_t cycle) {
    if (scene.fault.cycle < 0 || cycle < scene.fault.cycle) return "";
    return "The launch ends here: " + scene.fault.text + ".";
}

MachineScene make_machine_scene(std::shared_ptr<const model::KernelRun> run, std::shared_ptr<const Timeline> timeline) {
    MachineScene scene;
    scene.run = std::move(run);
    scene.timeline = std::move(timeline);
    const KernelTrace& trace = scene.trace();
    scene.machine = trace.machine.get();
    scene.blocks = static_cast<int64_t>(scene.run->config.grid.count());
    scene.at_once = std::max<int64_t>(1, int64_t{scene.run->gpu.sms} * std::max(1u, trace.block_slots));
    scene.slots = std::max(1u, trace.block_slots);
    scene.blocks_in_slot.resize(size_t{scene.run->gpu.sms} * scene.slots);
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
        const BlockRun& block = trace.blocks[i];
        scene.begins.push_back(block.begin);
        if (block.sm < scene.run->gpu.sms && block.slot < scene.slots)
            scene.blocks_in_slot[size_t{block.sm} * scene.slots + block.slot].push_back(static_cast<uint32_t>(i));
    }
    std::sort(scene.begins.begin(), scene.begins.end());
    for (const WarpTrack& warp : trace.warps)
        for (const StallRun& wait : warp.runs) scene.reasons_seen |= 1u << static_cast<uint32_t>(wait.reason);
    if (!scene.run->source.empty()) scene.lines = lines_of(scene.run->source);
    scene.rates = rates_of(*scene.run);
    scene.window = scene.rates.empty() ? 0 : scene.run->result.windows.length;
    scene.letters = letters_by_use(scene);
    scene.fault = fault_of(*scene.run);
    for (const Rates& r : scene.rates) {
        if (r.issue > 0) break;
        scene.silent_until += scene.window;
    }
    if (scene.machine == nullptr) return scene;
    const auto& requests = scene.machine->requests;
    for (size_t i = 0; i < requests.size(); ++i) {
        if (i % MachineScene::group == 0) scene.latest_end.push_back(requests[i].end());
        scene.latest_end.back() = std::max(scene.latest_end.back(), requests[i].end());
    }
    for (size_t i = 0; i < requests.size(); ++i)
        if (requests[i].issue >= 0) scene.of_issues.push_back(static_cast<uint32_t>(i));
    std::stable_sort(scene.of_issues.begin(), scene.of_issues.end(),
                     [&](uint32_t a, uint32_t b) { return requests[a].issue < requests[b].issue; });
    for (const size_t many = many_on_the_way(scene); scene.drawn * most_marks < many;) scene.drawn *= 2;
    return scene;
}

std::vector<uint32_t> requests_at(const MachineScene& scene, double cycle) {
    std::vector<uint32_t> found;
    if (scene.machine == nullptr) return found;
    const auto& requests = scene.machine->requests;
    const auto until = std::upper_bound(requests.begin(), requests.end(), cycle,
                                        [](double at, const RequestRecord& r) { return at < static_cast<double>(r.begin); });
    const auto last = static_cast<size_t>(until - requests.begin());
    for (size_t g = 0; g * MachineScene::group < last; ++g) {
        if (static_cast<double>(scene.latest_end[g]) <= cycle) continue;
        const size_t end = std::min(last, (g + 1) * MachineScene::group);
        for (size_t i = g * MachineScene::group; i < end; ++i)
            if (static_cast<double>(requests[i].end()) > cycle && requests[i].level != MemoryLevel::l1)
                found.push_back(static_cast<uint32_t>(i));
    }
    return found;
}

LivelyMoment lively_moment(const MachineScene& scene) {
    constexpr size_t most_looked_at = 2000;
    const auto& issues = scene.trace().issues;
    LivelyMoment best;
    std::pair<size_t, size_t> most;  // requests on their way, instructions issued in that cycle
    for (size_t i = 0, end = 0; i < issues.size(); i = std::max(end, i + issues.size() / most_looked_at)) {
        for (end = i; end < issues.size() && issues[end].cycle == issues[i].cycle;) ++end;
        const std::pair now = {requests_at(scene, static_cast<double>(issues[i].cycle)).size(), end - i};
        if (best.cycle >= 0 && now <= most) continue;
        most = now;
        best = {issues[i].cycle, static_cast<int32_t>(issues[i].warp)};
    }
    return best;
}

bool is_drawn(const MachineScene& scene, uint32_t request) {
    // Spread over the numbers, so that no step of the SMs decides which.
    return (uint64_t{request} * 0x9e3779b97f4a7c15u >> 40) % scene.drawn == 0;
}

TileState blocks_on(const MachineScene& scene, uint32_t sm, int64_t cycle) {
    TileState state;
    state.resident.assign(scene.slots, TileState::nobody);
    if (sm >= scene.run->gpu.sms) return state;
    const auto& blocks = scene.trace().blocks;
    for (uint32_t slot = 0; slot < scene.slots; ++slot) {
        const std::vector<uint32_t>& here = scene.blocks_in_slot[size_t{sm} * scene.slots + slot];
        const auto after =
            std::upper_bound(here.begin(), here.end(), cycle, [&](int64_t c, uint32_t i) { return c < blocks[i].begin; });
        if (after != here.begin() && blocks[*std::prev(after)].end > cycle)
            state.resident[slot] = blocks[*std::prev(after)].block;
    }
    return state;
}

std::span<const TileIssue> issues_of_sm(const MachineScene& scene, uint32_t sm, int64_t begin, int64_t end) {
    if (scene.machine == nullptr || sm >= scene.machine->issues.size()) return {};
    const std::vector<TileIssue>& issues = scene.machine->issues[sm];
    const int64_t base = scene.machine->issues_from;
    const auto at = [&](int64_t cycle) {
        return std::lower_bound(issues.begin(), issues.end(), cycle,
                                [&](const TileIssue& issue, int64_t c) { return base + issue.after < c; });
    };
    const auto first = at(begin), last = at(std::max(begin, end));
    return {first, last};
}

bool issues_kept(const MachineScene& scene, int64_t cycle) {
    if (scene.machine == nullptr) return false;
    return cycle < scene.silent_until || (cycle >= scene.machine->issues_from && cycle < scene.machine->issues_until);
}

WaitingBlocks blocks_waiting(const MachineScene& scene, int64_t cycle) {
    WaitingBlocks w;
    w.begun = std::upper_bound(scene.begins.begin(), scene.begins.end(), cycle) - scene.begins.begin();
    w.waiting = scene.blocks - w.begun;
    return w;
}

Rates rates_in(const MachineScene& scene, int64_t begin, int64_t end) {
    Rates mean;
    if (scene.rates.empty() || end <= begin) return mean;
    const auto last = static_cast<int64_t>(scene.rates.size()) - 1;
    const int64_t from = std::clamp<int64_t>(begin / scene.window, 0, last),
                  to = std::clamp<int64_t>((end - 1) / scene.window, from, last);
    for (int64_t w = from; w <= to; ++w) {
        const Rates& r = scene.rates[static_cast<size_t>(w)];
        mean.issue += r.issue, mean.l2 += r.l2, mean.dram += r.dram;
    }
    const auto n = static_cast<double>(to - from + 1);
    mean.issue /= n, mean.l2 /= n, mean.dram /= n;
    return mean;
}

namespace {

std::string what_text(const MachineScene& scene, const RequestRecord& r) {  // "load at line 7"
    const int32_t line = scene.run->program ? line_of_pc(*scene.run->program, r.pc) : -1;
    return std::string(name_of(r.kind)) + (line > 0 ? fmt::format(" at line {}", line) : "");
}

std::string outcome_text(const MachineScene& scene, const RequestRecord& r) {  // "L1 miss, L2 hit, 212 cycles"
    const std::string cycles = counted(r.ready, "cycle");
    if (r.kind == RequestKind::store) return fmt::format("on its way to {}, {}", scene.has_l2() ? "L2" : "memory", cycles);
    if (r.level == MemoryLevel::l1) return "L1 hit, " + cycles;
    const std::string_view first = r.kind == RequestKind::atomic || r.kind == RequestKind::constant ? "" : "L1 miss, ";
    const std::string_view second = !scene.has_l2()                    ? "to memory"
                                    : r.channel != RequestRecord::none ? "L2 miss"
                                    : r.level == MemoryLevel::dram     ? "L2 waits for DRAM as well"
                                                                       : "L2 hit";
    return fmt::format("{}{}, {}", first, second, cycles);
}

}  // namespace

std::string request_text(const MachineScene& scene, const RequestRecord& r) {
    return fmt::format("{}, warp {} of block {} on SM {}: {}", what_text(scene, r), r.warp, with_commas(r.block), r.sm,
                       outcome_text(scene, r));
}

std::string way_text(const MachineScene& scene, const RequestRecord& r) {
    if (r.issue < 0 || static_cast<size_t>(r.issue) >= scene.trace().issues.size()) return request_text(scene, r);
    const uint32_t slot = scene.trace().warps[scene.trace().issues[static_cast<size_t>(r.issue)].warp].slot;
    return fmt::format("w{}, {}: {}", slot, what_text(scene, r), outcome_text(scene, r));
}

int64_t awaited_request(const MachineScene& scene, uint32_t warp, int64_t cycle) {
    if (scene.machine == nullptr || warp >= scene.trace().warps.size()) return -1;
    const WarpState state = state_at(scene.trace(), scene.trace().warps[warp], cycle);
    if (state.stall == nullptr || state.stall->cause < 0) return -1;
    int64_t found = -1;
    const auto& requests = scene.machine->requests;
    const int64_t issue = state.stall->cause;
    auto at = std::lower_bound(scene.of_issues.begin(), scene.of_issues.end(), issue,
                               [&](uint32_t i, int64_t wanted) { return requests[i].issue < wanted; });
    for (; at != scene.of_issues.end() && requests[*at].issue == issue; ++at)
        if (found < 0 || requests[*at].end() > requests[static_cast<size_t>(found)].end()) found = *at;
    return found;
}

int64_t request_to_follow(const MachineScene& scene, int64_t cycle) {
    if (scene.machine == nullptr) return -1;
    const auto& requests = scene.machine->requests;
    int64_t best = -1;
    auto at = std::lower_bound(requests.begin(), requests.end(), cycle,
                               [](const RequestRecord& r, int64_t c) { return r.begin < c; });
    const auto rank = [](const RequestRecord& r) {
        return r.channel != RequestRecord::none ? 3 : r.level == MemoryLevel::dram ? 2 : r.level == MemoryLevel::l2 ? 1 : 0;
    };
    size_t looked = 0;
    for (; at != requests.end() && looked < 4096; ++at) {
        if (at->sm != scene.trace().sm || at->kind == RequestKind::store) continue;
        ++looked;
        if (best < 0 || rank(*at) > rank(requests[static_cast<size_t>(best)])) best = at - requests.begin();
        if (rank(*at) == 3) break;
    }
    return best;
}

int32_t warp_to_look_at(const MachineScene& scene, int32_t warp, int64_t cycle) {
    const KernelTrace& trace = scene.trace();
    if (warp < 0 || static_cast<size_t>(warp) >= trace.warps.size()) return warp;
    const WarpTrack& track = trace.warps[static_cast<size_t>(warp)];
    if (track.begin <= cycle && cycle < track.end) return warp;
    int first = -1;
    for (const SlotRow& row : scene.timeline->rows) {
        const int here = warp_at(trace, row, cycle);
        if (here >= 0 && row.slot == track.slot) return here;
        if (here >= 0 && first < 0) first = here;
    }
    return first >= 0 ? first : warp;
}

LandmarkAt next_landmark(const MachineScene& scene, Landmark what, int64_t after) {
    const KernelTrace& trace = scene.trace();
    LandmarkAt best;
    const auto take = [&](int64_t cycle, uint32_t warp, int64_t request = -1) {
        if (cycle > after && (best.cycle < 0 || cycle < best.cycle)) best = {cycle, static_cast<int32_t>(warp), request};
    };
    switch (what) {
        case Landmark::fault:
            if (scene.fault.cycle > after) best = {scene.fault.cycle, scene.fault.warp};
            break;
        case Landmark::barrier:
            for (uint32_t w = 0; w < trace.warps.size(); ++w)
                for (const StallRun& run : trace.warps[w].runs)
                    if (run.reason == StallReason::barrier) take(run.begin, w);
            break;
        case Landmark::divergence:
            for (uint32_t w = 0; w < trace.warps.size(); ++w)
                for (size_t i = 0; i < trace.warps[w].issues.size(); ++i)
                    if (trace.issues[trace.warps[w].issues[i]].cycle > after && is_divergent(scene, trace.warps[w], i)) {
                        take(trace.issues[trace.warps[w].issues[i]].cycle, w);
                        break;
                    }
            break;
        case Landmark::miss:
            if (scene.machine == nullptr) break;
            for (size_t i = 0; i < scene.machine->requests.size(); ++i) {
                const RequestRecord& r = scene.machine->requests[i];
                if (r.issue >= 0 && r.sm == trace.sm && r.channel != RequestRecord::none)
                    take(r.begin, trace.issues[static_cast<size_t>(r.issue)].warp, static_cast<int64_t>(i));
            }
            break;
    }
    return best;
}

}  // namespace lockstep::gui
