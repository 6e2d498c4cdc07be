#include "app/gui/views/memory/request_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/rng.h"
#include "core/model/memory/coalescer.h"

namespace lockstep::gui {

namespace {

constexpr uint64_t sandbox_base = 1 << 20;

// "ld.global.f32" of "@%p1 ld.global.f32 %f1, [%rd1]".
std::string opcode_text(const ptx::Program& program, uint32_t pc) {
    std::string text = ptx::text_of(program, pc);
    std::replace(text.begin(), text.end(), '\t', ' ');
    if (!text.empty() && text.front() == '@') text.erase(0, std::min(text.find(' ') + 1, text.size()));
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    return text.substr(0, text.find(' '));
}

}  // namespace

uint32_t TouchedLine::used(uint32_t sector) const {
    return static_cast<uint32_t>(std::popcount(bytes[sector / 2] >> (sector % 2 * 32) & 0xffffffffu));
}

bool TouchedLine::uses_word(uint32_t word) const {
    return (bytes[word / 16] >> (word % 16 * 4) & 0xf) != 0;
}

Pattern pattern_of(const simt::WarpAccess& access) {
    Pattern pattern;
    std::copy(std::begin(access.addresses), std::end(access.addresses), pattern.address.begin());
    pattern.lanes = access.lanes;
    pattern.bytes = std::clamp(access.bytes, 1u, 32u);
    return pattern;
}

RequestFacts facts_of(const Pattern& pattern) {
    RequestFacts facts;
    std::map<uint64_t, TouchedLine> lines;
    for (uint32_t left = pattern.lanes; left != 0; left &= left - 1) {
        const uint64_t begin = pattern.address[static_cast<size_t>(std::countr_zero(left))];
        for (uint64_t at = begin; at != begin + pattern.bytes; ++at) {
            TouchedLine& line = lines[at / model::line_bytes];
            const uint64_t byte = at % model::line_bytes;
            line.bytes[byte / 64] |= uint64_t{1} << byte % 64;
        }
    }
    model::GlobalRequest request;
    model::coalesce(pattern.address.data(), pattern.lanes, pattern.bytes, request);
    facts.sectors = request.sectors;
    for (uint32_t i = 0; i < request.lines; ++i) lines[request.line[i].line].sectors = request.line[i].sectors;
    for (auto& [number, line] : lines) {
        line.line = number;
        facts.used += static_cast<uint32_t>(std::popcount(line.bytes[0]) + std::popcount(line.bytes[1]));
        facts.lines.push_back(line);
    }
    facts.moved = facts.sectors * model::sector_bytes;
    return facts;
}

Pattern pattern_of(const StrideChoice& choice) {
    Pattern pattern;
    pattern.lanes = 0xffffffffu;
    pattern.bytes = static_cast<uint32_t>(choice.element);
    Rng rng(8);
    for (uint64_t lane = 0; lane < 32; ++lane) {
        const uint64_t element = choice.random    ? rng.below((uint64_t{1} << 20) / pattern.bytes)
                                 : choice.records ? lane * static_cast<uint64_t>(choice.stride)
                                                  : lane;
        // An element lies at a multiple of its size, whatever the offset.
        const uint64_t offset = static_cast<uint64_t>(choice.offset) * 4 / pattern.bytes * pattern.bytes;
        pattern.address[lane] = sandbox_base + offset + element * pattern.bytes;
    }
    return pattern;
}

std::string name_of(const StrideChoice& choice) {
    if (choice.random) return "random gather";
    std::string name = !choice.records && choice.stride > 1 ? fmt::format("{} fields, each side by side", choice.stride)
                                                            : fmt::format("stride {}", choice.stride);
    if (choice.offset > 0) name += fmt::format(", offset {}", choice.offset);
    if (choice.element != 4) name += fmt::format(", {} B", choice.element);
    return name;
}

std::vector<MemoryRow> memory_rows(const model::KernelRun& run, const simt::WarpHistory* history, bool shared) {
    std::vector<MemoryRow> rows;
    const ptx::Program& program = *run.program;
    std::map<uint32_t, std::vector<size_t>> accesses;
    if (history != nullptr)
        for (size_t i = 0; i < history->accesses.size(); ++i) {
            const simt::WarpAccess& access = history->accesses[i];
            if (access.space == (shared ? ptx::Space::shared : ptx::Space::global)) accesses[access.pc].push_back(i);
        }
    for (uint32_t pc = 0; pc < run.result.instructions.size() && pc < program.instructions.size(); ++pc) {
        const model::InstructionCounters& counters = run.result.instructions[pc];
        const ptx::DecodedInstruction& in = program.instructions[pc];
        if ((shared ? counters.shared_requests : counters.requests) == 0 || in.space == ptx::Space::local) continue;
        MemoryRow row;
        row.pc = pc;
        row.line = in.line;
        row.text = opcode_text(program, pc);
        row.is_atomic = in.kind == ptx::Kind::atomic;
        row.is_store = in.kind == ptx::Kind::store || in.kind == ptx::Kind::matrix_store;
        row.requests = shared ? counters.shared_requests : counters.requests;
        row.units = shared ? counters.shared_passes : counters.sectors;
        if (const auto found = accesses.find(pc); found != accesses.end()) row.accesses = std::move(found->second);
        rows.push_back(std::move(row));
    }
    return rows;
}

bool has_twin(const std::vector<MemoryRow>& rows, const MemoryRow& row) {
    return std::any_of(rows.begin(), rows.end(), [&](const MemoryRow& other) {
        return other.pc != row.pc && other.line == row.line && other.text == row.text && row.line > 0;
    });
}

bool is_hidden(const MemoryRow& row, const Session& session, const simt::WarpHistory* history) {
    if (session.learn.reveal_steps < 0) return false;
    return history == nullptr || row.accesses.empty() ||
           history->accesses[row.accesses.front()].step >= static_cast<uint64_t>(session.learn.reveal_steps);
}

void LineChoice::update(const Session& session, const Focus& focus, const simt::WarpHistory* history) {
    const auto step = static_cast<size_t>(std::max<int64_t>(0, session.sm.history_step));
    const bool of_clock =
        history != nullptr && step < history->steps.size() && static_cast<int32_t>(history->steps[step].pc) == focus.pc;
    const bool line = focus.line != line_ && focus.line > 0, pc = focus.pc != pc_ && focus.pc >= 0 && !of_clock;
    if (line || pc || session.learn.placed != placed_)
        chosen_ = true;
    else if (session.sm.history_step != step_ || focus.time != time_ || focus.warp != warp_)
        chosen_ = false;
    line_ = focus.line, pc_ = focus.pc, warp_ = focus.warp;
    step_ = session.sm.history_step, time_ = focus.time;
    placed_ = session.learn.placed;
}

namespace {

// The warp's newest instruction that the clock has come to. While the clock counts cycles, history_step may be ahead of it.
int64_t newest_issued(const Session& session, const Focus& focus) {
    const auto snapshot = session.snapshot();
    const int64_t step = session.sm.history_step;
    if (!snapshot->kernel.run || focus.warp < 0) return step;
    const KernelTrace& trace = snapshot->kernel.run->result.trace;
    if (static_cast<size_t>(focus.warp) >= trace.warps.size()) return step;
    return cycle_of_step(trace, trace.warps[static_cast<size_t>(focus.warp)], step) > focus.time ? step - 1 : step;
}

// How many of the row's executions are no later than the warp's instruction `limit`.
size_t executed(const MemoryRow& row, const simt::WarpHistory& history, int64_t limit) {
    const auto behind = std::partition_point(row.accesses.begin(), row.accesses.end(), [&](size_t access) {
        return static_cast<int64_t>(history.accesses[access].step) <= limit;
    });
    return static_cast<size_t>(behind - row.accesses.begin());
}

// The row whose execution is the newest of all up to `limit`; -1: none has one.
int newest_row(const std::vector<MemoryRow>& rows, const simt::WarpHistory& history, int64_t limit) {
    int newest = -1;
    uint64_t newest_step = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const size_t count = executed(rows[i], history, limit);
        const uint64_t step = count == 0 ? 0 : history.accesses[rows[i].accesses[count - 1]].step;
        if (count > 0 && (newest < 0 || step > newest_step)) newest = static_cast<int>(i), newest_step = step;
    }
    return newest;
}

// Of the line's rows, those that the warp executed before the others, the one whose requests take most sectors or passes:
// what the line costs, it costs there. Of equal ones the first; -1: the line asks for no memory.
int worst_of_line(const std::vector<MemoryRow>& rows, int32_t line) {
    int worst = -1;
    const auto worse = [](const MemoryRow& one, const MemoryRow& other) {
        if (one.accesses.empty() != other.accesses.empty()) return other.accesses.empty();
        return one.per_request() > other.per_request();
    };
    for (size_t i = 0; i < rows.size() && line > 0; ++i)
        if (rows[i].line == line && (worst < 0 || worse(rows[i], rows[static_cast<size_t>(worst)])))
            worst = static_cast<int>(i);
    return worst;
}

}  // namespace

Picked pick(const std::vector<MemoryRow>& rows, const Session& session, const Focus& focus, const simt::WarpHistory* history,
            int32_t last, bool chosen) {
    Picked picked;
    const auto take = [&](const auto& wanted) {
        for (size_t i = 0; i < rows.size() && picked.row < 0; ++i)
            if (wanted(rows[i])) picked.row = static_cast<int>(i);
    };
    const int64_t issued = newest_issued(session, focus);
    if (chosen || session.learn.reveal_steps >= 0) {
        take([&](const MemoryRow& row) { return static_cast<int32_t>(row.pc) == focus.pc; });
        // Of a line with several, the one that was looked at before stays.
        take([&](const MemoryRow& row) { return row.line == focus.line && static_cast<int32_t>(row.pc) == last; });
        if (picked.row < 0) picked.row = worst_of_line(rows, focus.line);
    } else if (history != nullptr) {
        picked.row = newest_row(rows, *history, issued);
    }
    take([&](const MemoryRow& row) { return static_cast<int32_t>(row.pc) == last; });
    // The clock has not come to one, or an open prediction stops it before: the line that the scene opens on.
    const int32_t opened = session.snapshot()->kernel.look_at.line;
    if (picked.row < 0) picked.row = worst_of_line(rows, opened);
    take([&](const MemoryRow& row) { return !row.accesses.empty(); });
    take([&](const MemoryRow&) { return true; });
    if (picked.row < 0) return picked;
    const MemoryRow& row = rows[static_cast<size_t>(picked.row)];
    picked.hidden = is_hidden(row, session, history);
    if (picked.hidden || history == nullptr) return picked;
    const int64_t limit = session.learn.reveal_steps >= 0 ? std::min(issued, session.learn.reveal_steps - 1) : issued;
    picked.executions = row.accesses.size();
    picked.execution = std::max<size_t>(1, executed(row, *history, limit)) - 1;
    if (!row.accesses.empty()) picked.access = static_cast<int64_t>(row.accesses[picked.execution]);
    return picked;
}

std::string stopped_text(const model::KernelRun& run) {
    if (!run.result.fault) return {};
    const simt::Fault& fault = *run.result.fault;
    return "Stopped by " + fault.kind + (fault.line > 0 ? fmt::format(" at line {}", fault.line) : "");
}

std::shared_ptr<const simt::WarpHistory> history_of(const Snapshot& snapshot) {
    const auto& history = snapshot.kernel.history;
    if (!history || !snapshot.kernel.run || !snapshot.kernel.run->program) return nullptr;
    // For a moment after a new kernel the history is of the one before.
    const size_t count = snapshot.kernel.run->program->instructions.size();
    for (const simt::WarpAccess& access : history->accesses)
        if (access.pc >= count || access.step >= history->steps.size()) return nullptr;
    return history;
}

void look_at_step(Session& session, Focus& focus, const Snapshot& snapshot, uint64_t step) {
    session.sm.history_step = static_cast<int64_t>(step);
    session.sm.by_time = false;
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return;
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focus.warp)];
    if (const int64_t cycle = cycle_of_step(trace, warp, static_cast<int64_t>(step)); cycle >= 0) focus.time = cycle;
}

}  // namespace lockstep::gui
