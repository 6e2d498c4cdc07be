// See undefined.h. From such a shuffle on the warp is followed instruction by instruction: of each register the lanes are
// known that hold something made of an undefined value. That ends when the last such register is overwritten, at a use, and
// where functions are called.
#include "core/simt/check/undefined.h"

#include <algorithm>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/findings.h"
#include "core/simt/memory/access.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

struct UndefinedLanes {
    std::map<int32_t, uint32_t> lanes;  // by register
    uint32_t pc = ptx::no_pc;           // of the first shuffle, and there:
    uint32_t to = 0, from = 0;          // the lane that read, and the one that it read from
    uint32_t mask = 0, members = full_mask;
    uint32_t exited = 0;
    uint64_t steps = 0;

    uint32_t of(int32_t reg) const {
        const auto found = lanes.find(reg);
        return found == lanes.end() ? 0 : found->second;
    }
    void set(int32_t reg, uint32_t which, uint32_t undefined) {
        const uint32_t now = (of(reg) & ~which) | (undefined & which);
        if (now)
            lanes[reg] = now;
        else
            lanes.erase(reg);
    }
};

namespace {

constexpr uint64_t most_followed_steps = 1 << 20;  // that a value is followed

uint64_t followed_warp(const Warp& warp) {
    return uint64_t{warp.block->linear} << 6 | warp.index;
}

void forget_undefined(Warp& warp) {
    warp.watch.undefined = false;
    warp.block->grid->findings->undefined.erase(followed_warp(warp));
}

std::string why_not_there(const UndefinedLanes& u) {
    if (u.exited >> u.from & 1) return "which has ended or was never there";
    if (!(u.members >> u.from & 1)) return "which the member mask " + hex(u.members) + " does not name";
    return "which does not run this shuffle";
}

void tell_undefined(Warp& warp, const UndefinedLanes& u, uint32_t pc, const std::string& use) {
    const ptx::Program& program = *warp.block->grid->program;
    const std::string where = place_of(program, u.pc);
    Fault fault = *make_fault(warp, u.pc, u.to, "synccheck",
                              "a shuffle reads from a lane that does not take part: on " + where + " lane " +
                                  std::to_string(u.to) + " of warp " + std::to_string(warp.index) +
                                  " takes the value of lane " + std::to_string(u.from) + ", " + why_not_there(u) +
                                  "; what it gets is undefined, and " + use + " on " + place_of(program, pc));
    fault.advice =
        "Let all lanes that are read from run the shuffle: take it out of the condition and give the lanes that have no "
        "value a "
        "neutral one (0 for a sum), or do not use the value where the lane that gave it is not there.";
    add_warning(*warp.block->grid, "undefined " + where, std::move(fault));
}

// What an instruction that has such values among its sources makes of them: "", or how it uses them up.
const char* use_of_undefined(const ptx::DecodedInstruction& i, bool by_address) {
    using ptx::Kind;
    if (by_address) return "it is taken for an address";
    switch (i.kind) {
        case Kind::store:
            return "it is stored";
        case Kind::atomic:
            return "it goes into an atomic";
        case Kind::vote:
            return "it goes into a vote";
        default:
            return "";
    }
}

}  // namespace

void note_shuffle(Warp& warp, uint32_t pc, uint32_t mask, const int* from, uint32_t valid) {
    uint32_t absent = 0;
    for (uint32_t rest = valid & mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (!(mask >> (static_cast<uint32_t>(from[lane]) & 31) & 1)) absent |= 1u << lane;
    }
    if (!absent && !warp.watch.undefined) return;
    if (!warp.frames.empty() && warp.stack.back().frame >= 0) return;
    auto& slot = warp.block->grid->findings->undefined[followed_warp(warp)];
    if (!warp.watch.undefined || !slot) slot = std::make_shared<UndefinedLanes>();
    UndefinedLanes& u = *slot;
    const auto& instruction = warp.block->grid->program->instructions[pc];
    if (absent && u.lanes.empty()) {
        u.pc = pc;
        u.to = static_cast<uint32_t>(__builtin_ctz(absent));
        u.from = static_cast<uint32_t>(from[u.to]) & 31;
        u.mask = mask;
        u.exited = warp.exited | gone(warp);
        if (instruction.source[3] != ptx::no_operand) u.members = words(warp, instruction.source[3])[u.to];
    }
    const uint32_t before = u.of(instruction.source[0]);
    uint32_t undefined = absent;
    for (uint32_t rest = mask & ~absent; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint32_t source = valid >> lane & 1 ? static_cast<uint32_t>(from[lane]) & 31 : lane;
        undefined |= (before >> source & 1) << lane;
    }
    if (instruction.destination[0] != ptx::no_operand) u.set(instruction.destination[0], mask, undefined);
    warp.watch.undefined = !u.lanes.empty();
    if (!warp.watch.undefined) forget_undefined(warp);
}

void follow_undefined(Warp& warp, uint32_t pc, uint32_t mask) {
    const Grid& grid = *warp.block->grid;
    const auto found =
        grid.findings ? grid.findings->undefined.find(followed_warp(warp)) : decltype(grid.findings->undefined.end()){};
    if (!grid.findings || found == grid.findings->undefined.end() || !found->second || warp.done) {
        warp.watch.undefined = false;
        return;
    }
    UndefinedLanes& u = *found->second;
    const auto& instructions = grid.program->instructions;
    if (++u.steps > most_followed_steps || pc >= instructions.size()) return forget_undefined(warp);
    const auto& i = instructions[pc];
    using ptx::Kind;
    if (i.kind == Kind::shuffle) return;  // note_shuffle has seen it
    if (i.kind == Kind::call || i.kind == Kind::return_) return forget_undefined(warp);
    uint32_t from_sources = 0, from_address = 0;
    ptx::each_use(grid.program->lists, i, [&](const ptx::RegisterUse& use) {
        if (use.role == ptx::Role::source) from_sources |= u.of(use.reg);
        if (use.role == ptx::Role::address) from_address |= u.of(use.reg);
    });
    if (i.opcode && i.opcode->name == "selp" && i.source[2] != ptx::no_operand) {
        const uint32_t holds = *words(warp, i.source[2]) ^ (i.negated_source ? full_mask : 0);
        from_sources = u.of(i.source[2]) | (holds & u.of(i.source[0])) | (~holds & u.of(i.source[1]));
    }
    const uint32_t by_guard = i.guard == ptx::no_operand ? 0 : u.of(i.guard);
    const bool turns =
        i.kind == Kind::branch || i.kind == Kind::exit || i.kind == Kind::trap || i.kind == Kind::branch_table;
    const uint32_t used = from_address & mask;
    if (turns && ((by_guard | from_sources) & mask)) {
        tell_undefined(warp, u, pc, "it decides which way the thread goes");
        return forget_undefined(warp);
    }
    if (const char* const use = use_of_undefined(i, used != 0); *use && ((from_sources | used) & mask)) {
        tell_undefined(warp, u, pc, use);
        return forget_undefined(warp);
    }
    ptx::each_written(grid.program->lists, i,
                      [&](int32_t reg) { u.set(reg, mask | by_guard, (from_sources & mask) | by_guard); });
    u.lanes.empty() ? forget_undefined(warp) : void();
}

}  // namespace lockstep::simt
