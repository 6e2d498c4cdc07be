#include "app/gui/views/machine/lane/warp_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/sm/lane_paths.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::gui {

void KeptLanes::adopt(const Snapshot& snapshot) {
    const KernelState& kernel = snapshot.kernel;
    if (kernel.history != history_) {
        history_ = kernel.history;
        values_.clear();
        asked_ = -1;
    }
    if (!kernel.lanes || !history_ || kernel.lanes_step < 0) return;
    values_[kernel.lanes_step] = kernel.lanes;
    while (values_.size() > most)  // the step that is farthest away goes
        values_.erase(kernel.lanes_step - values_.begin()->first > values_.rbegin()->first - kernel.lanes_step
                          ? values_.begin()
                          : std::prev(values_.end()));
}

KeptLanes::Values KeptLanes::at(int64_t step) const {
    const auto found = values_.find(step);
    return found == values_.end() ? nullptr : found->second;
}

void KeptLanes::ask(Session& session, const Focus& focus, const Snapshot& snapshot, int64_t step) {
    if (!history_ || step < 0) return;
    if (stood_ != session.sm.history_step) stood_ = session.sm.history_step, asked_ = -1;  // the clock went on
    if (!at(step)) {
        if (asked_ == step || snapshot.kernel.lanes_step != session.sm.history_step) return;
        asked_ = step;
        session.post(ask::LanesAt{step, -1});
    } else if (asked_ == step && snapshot.kernel.lanes_step == step && session.sm.history_step != step) {
        asked_ = -1;
        session.post(ask::LanesAt{session.sm.history_step, focus.time});
    }
}

WarpNow warp_now(const MachineFrame& frame) {
    WarpNow w;
    w.warp = focused_warp(frame);
    if (frame.scene == nullptr || w.warp == UINT32_MAX) return w;
    const KernelTrace& trace = frame.scene->trace();
    w.track = &trace.warps[w.warp];
    w.state = state_at(trace, *w.track, frame.cycle());
    w.step = issues_before(trace, *w.track, frame.cycle());
    w.pc = w.state.pc();
    const auto& program = *frame.scene->run->program;
    if (w.state.resident && w.pc < program.instructions.size()) w.instruction = &program.instructions[w.pc];
    const auto& history = frame.snapshot.kernel.history;
    const bool fits = history && history->block == w.track->block && history->warp_in_block == w.track->warp_in_block;
    w.fetching = !fits && frame.scene->run->before != nullptr;
    if (fits && w.state.resident && w.step >= 0 && w.step < static_cast<int64_t>(history->steps.size()) &&
        history->steps[static_cast<size_t>(w.step)].pc == w.pc)
        w.now = &history->steps[static_cast<size_t>(w.step)];
    uint32_t active = simt::full_mask, gone = 0;
    if (w.now != nullptr) {
        active = w.now->active;
        gone = gone_lanes(program, *w.now);
    } else if (!w.track->issues.empty()) {  // as it was when it issued last
        const auto behind = std::max<int64_t>(0, w.step - static_cast<int64_t>(w.track->issued_before) - 1);
        active = trace.issues[w.track->issues[std::min(static_cast<size_t>(behind), w.track->issues.size() - 1)]].active;
    }
    w.works = w.state.issue != nullptr ? w.state.issue->active : active;
    for (int lane = 0; lane < 32; ++lane) {
        w.path[static_cast<size_t>(lane)] = w.now != nullptr ? std::max(0, path_of_lane(*w.now, lane)) : 0;
        w.marks[static_cast<size_t>(lane)] = !w.state.resident || (gone >> lane & 1) != 0 ? LaneMark::gone
                                             : (w.works >> lane & 1) != 0                 ? LaneMark::works
                                             : (active >> lane & 1) != 0                  ? LaneMark::guarded
                                                                                          : LaneMark::waits;
    }
    if (!w.state.resident) w.works = 0;
    if (w.state.stall != nullptr) {
        w.wait = wait_of(*frame.scene->timeline, w.warp, *w.state.stall);
        w.awaited = awaited_request(*frame.scene, w.warp, frame.cycle());
    }
    return w;
}

bool is_hidden(const MachineFrame& frame, const WarpNow& warp) {
    const int64_t revealed = frame.session.learn.reveal_steps;
    return (revealed >= 0 && warp.step >= revealed) || asks_for(frame.session, "lanes");
}

int picked_lane(const MachineFrame& frame, const WarpNow& warp) {
    if (frame.focus.lane >= 0 && frame.focus.lane < 32) return frame.focus.lane;
    return warp.works == 0 ? 0 : std::countr_zero(warp.works);
}

WayPlace way_of(const Stations& stations, const RequestRecord& request, double clock) {
    if (clock < static_cast<double>(stations.begin())) return {};
    const bool near = request.level == MemoryLevel::l1 || request.level == MemoryLevel::none,
               far = request.channel != RequestRecord::none, store = request.kind == RequestKind::store;
    if (clock >= static_cast<double>(stations.end()))
        return store && !near ? WayPlace{2, false, false} : WayPlace{0, true, false};
    double way = 0;
    switch (stations.station_at(clock, way)) {
        case Station::sm_queue:
            return {0, false, true};
        case Station::l1:
            if (!near) return {way, false, false};
            return way < 0.5 ? WayPlace{2 * way, false, false} : WayPlace{2 - 2 * way, true, false};
        case Station::crossbar:
            return {1 + way, false, false};
        case Station::slice_queue:
            return {2, false, true};
        case Station::l2:
            return {far && !store ? 2 + std::max(0.0, 2 * way - 1) : 2, false, false};
        case Station::channel_queue:
            return {3, false, true};
        case Station::dram:
            return way < 0.5 ? WayPlace{3, false, false} : WayPlace{4 - 2 * way, true, false};
        default:
            return {2 - 2 * way, true, false};
    }
}

WayWords way_words(const MachineFrame& frame, const RequestRecord& r, const Stations& s, double clock) {
    WayWords w;
    w.name = {fmt::format("SM {}", r.sm), "L1", "L2", std::string(name_of(frame.scene->run->gpu.dram_kind.value))};
    const auto passed = [&](Station station) { return clock >= static_cast<double>(s.at[static_cast<size_t>(station)]); };
    const bool near = r.level == MemoryLevel::l1 || r.level == MemoryLevel::none, far = r.channel != RequestRecord::none;
    const bool by = r.kind == RequestKind::store || r.kind == RequestKind::atomic || r.kind == RequestKind::constant;
    w.word[0] = clock < static_cast<double>(s.begin())  ? ""
                : clock >= static_cast<double>(s.end()) ? (r.kind == RequestKind::store ? "sent" : "has it")
                : clock < static_cast<double>(s.at[1])  ? "queue"
                : r.kind == RequestKind::store          ? "sent"
                                                        : "waits";
    if (near ? clock >= static_cast<double>(s.begin() + s.end()) / 2 : passed(Station::crossbar))
        w.word[1] = near ? "hit" : by ? "passed" : "miss";
    if (near) return w;
    if (!frame.scene->has_l2())
        w.word[2] = "none";
    else if (passed(Station::slice_queue))
        w.word[2] = passed(Station::l2) ? (r.kind == RequestKind::store   ? "takes it"
                                           : far                          ? "miss"
                                           : r.level == MemoryLevel::dram ? "waits too"
                                                                          : "hit")
                                        : "queue";
    if (far && r.kind != RequestKind::store && passed(Station::channel_queue))
        w.word[3] = passed(Station::back) ? "sent it" : passed(Station::dram) ? "reads" : "queue";
    return w;
}

LaneNow lane_now(const MachineFrame& frame, const WarpNow& warp) {
    LaneNow l;
    l.lane = picked_lane(frame, warp);
    if (warp.track == nullptr) return l;
    const KernelTrace& trace = frame.scene->trace();
    l.step = warp.state.issue != nullptr ? warp.step : warp.step - 1;
    const int64_t index = l.step - static_cast<int64_t>(warp.track->issued_before);
    if (index < 0 || index >= static_cast<int64_t>(warp.track->issues.size())) return l.step = -1, l;
    l.issue = &trace.issues[warp.track->issues[static_cast<size_t>(index)]];
    const auto& program = *frame.scene->run->program;
    if (l.issue->pc < program.instructions.size()) l.instruction = &program.instructions[l.issue->pc];
    l.worked = (l.issue->active >> l.lane & 1) != 0;
    l.latency = std::max<int64_t>(1, l.issue->ready - l.issue->cycle);
    l.age = std::max<int64_t>(0, frame.cycle() - l.issue->cycle);
    if (frame.kept != nullptr) {
        l.before = frame.kept->at(l.step);
        l.after = frame.kept->at(l.step + 1);
    }
    if (l.instruction == nullptr) return l;
    ptx::each_written(program.lists, *l.instruction,
                      [&](int32_t reg) { l.needs_before |= ptx::reads(program, *l.instruction, reg); });
    const KeptLanes::Values sources = l.before ? l.before : l.needs_before ? nullptr : l.after;
    if (sources) l.arithmetic = arithmetic_of(program, l.issue->pc, *sources, l.lane);
    const auto& history = frame.snapshot.kernel.history;
    if (history && history->block == warp.track->block && history->warp_in_block == warp.track->warp_in_block) {
        const auto at = std::lower_bound(history->accesses.begin(), history->accesses.end(), static_cast<uint64_t>(l.step),
                                         [](const simt::WarpAccess& a, uint64_t step) { return a.step < step; });
        if (at != history->accesses.end() && at->step == static_cast<uint64_t>(l.step) && at->pc == l.issue->pc)
            l.access = &*at;
    }
    return l;
}

namespace {

// Whether the warp wrote the register before, as far as one looks back; yes where that is not far enough to say.
bool has_writer(const MachineFrame& frame, const WarpNow& warp, int32_t offset) {
    constexpr int64_t looks = 2000;
    const ptx::Program& program = *frame.scene->run->program;
    const int64_t before = warp.step - static_cast<int64_t>(warp.track->issued_before);
    if (warp.track->issued_before > 0 || before > looks) return true;
    for (int64_t i = std::min(before, static_cast<int64_t>(warp.track->issues.size())); i-- > 0;) {
        const uint32_t pc = frame.scene->trace().issues[warp.track->issues[static_cast<size_t>(i)]].pc;
        if (pc < program.instructions.size() && ptx::writes(program, program.instructions[pc], offset)) return true;
    }
    return false;
}

}  // namespace

std::vector<LaneRow> lane_rows(const MachineFrame& frame, const WarpNow& warp, const ptx::DecodedInstruction* pictured,
                               const std::vector<simt::LaneValues>& values, int lane, size_t most) {
    std::vector<LaneRow> rows;
    if (warp.track == nullptr) return rows;
    const ptx::Program& program = *frame.scene->run->program;
    for (const RegisterRow& r : registers_shown(*frame.scene->timeline, *warp.track, warp.step, values, most)) {
        const simt::LaneValues& v = values[r.lane_values];
        LaneRow row{r.name, r.holds, {}, type_of_use(program, v.reg), v.bits[lane], r.ready, r.waits, false, false, &v};
        row.value = number_text(row.bits, row.type);
        if (pictured != nullptr) {
            row.read = ptx::reads(program, *pictured, v.reg.offset);
            row.written = ptx::writes(program, *pictured, v.reg.offset);
        }
        rows.push_back(std::move(row));
    }
    if (pictured != nullptr)  // what it writes has a row too, though nobody may have written it before
        ptx::each_written(program.lists, *pictured, [&](int32_t offset) {
            const bool there =
                std::any_of(rows.begin(), rows.end(), [&](const LaneRow& r) { return r.values->reg.offset == offset; });
            const simt::LaneValues* v = there ? nullptr : values_of(values, offset);
            if (v == nullptr) return;
            LaneRow row{v->reg.name, "",   {}, type_of_use(program, v->reg), v->bits[lane], 0, StallReason::wait,
                        false,       true, v};
            row.value = number_text(row.bits, row.type);
            row.unwritten = !has_writer(frame, warp, offset);
            rows.push_back(std::move(row));
        });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const LaneRow& a, const LaneRow& b) { return 2 * a.read + a.written > 2 * b.read + b.written; });
    if (rows.size() > most) rows.resize(most);
    return rows;
}

std::string source_line(const MachineFrame& frame, int32_t line) {
    if (frame.scene == nullptr || line <= 0) return "";
    const std::string& source = frame.scene->run->source;
    size_t at = 0;
    for (int32_t k = 1; k < line && at != std::string::npos; ++k) {
        at = source.find('\n', at);
        if (at != std::string::npos) ++at;
    }
    if (at == std::string::npos || at >= source.size()) return "";
    std::string text = source.substr(at, source.find('\n', at) - at);
    const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<NextIssue> next_issues(const MachineFrame& frame, const WarpNow& warp, size_t most) {
    std::vector<NextIssue> next;
    if (warp.track == nullptr || frame.session.learn.reveal_steps >= 0) return next;
    const KernelTrace& trace = frame.scene->trace();
    for (auto i = static_cast<size_t>(std::max<int64_t>(0, warp.step - static_cast<int64_t>(warp.track->issued_before)));
         i < warp.track->issues.size() && next.size() < most; ++i) {
        const IssueRecord& issue = trace.issues[warp.track->issues[i]];
        if (issue.cycle <= frame.cycle() || issue.folded) continue;
        next.push_back({issue.cycle, issue.pc, short_text(*frame.scene->run->program, issue.pc)});
    }
    return next;
}

std::string pipe_name(const ptx::DecodedInstruction& instruction) {
    if (instruction.opcode == nullptr) return "unit";
    switch (instruction.opcode->unit) {
        case ptx::Unit::fma:
            return "FP32 pipe";
        case ptx::Unit::alu:
        case ptx::Unit::uniform:
            return "integer pipe";
        case ptx::Unit::fp64:
            return "FP64 pipe";
        case ptx::Unit::xu:
            return "special function unit";
        case ptx::Unit::lsu:
            return "load/store unit";
        case ptx::Unit::tensor:
            return "tensor core";
        case ptx::Unit::cbu:
            return "branch unit";
    }
    return "unit";
}

}  // namespace lockstep::gui
