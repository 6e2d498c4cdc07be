// See call.h.
#include "core/simt/execute/call.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/base/sizes.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

namespace {

// Warps that may have calls open at a time: those of the launch, but no more than fit the SMs. What calls may take of the
// host's memory is divided among them.
uint64_t resident_warps(const Grid& grid) {
    constexpr uint64_t on_one_sm = 64;
    const uint64_t in_block = (grid.config->block.count() + warp_size - 1) / warp_size;
    return std::max(in_block, std::min(in_block * grid.config->grid.count(), on_one_sm * grid.sm_count));
}

uint64_t frame_limit(const Grid& grid) {
    return std::clamp(most_call_memory / resident_warps(grid), least_frame_bytes, most_frame_bytes);
}

uint64_t stack_limit(const Grid& grid) {
    const uint64_t share = most_call_memory / (resident_warps(grid) * warp_size) / 16 * 16;
    return std::max<uint64_t>(grid.program->local_bytes, std::min(share, most_stack_bytes));
}

const ptx::Function& function_of(const Warp& warp, int32_t frame) {
    const auto& functions = warp.block->grid->program->functions;
    return functions[frame < 0 ? 0 : static_cast<size_t>(warp.frames[static_cast<size_t>(frame)].function)];
}

uint32_t base_of(const Warp& warp, int32_t frame) {
    return frame < 0 ? 0 : warp.frames[static_cast<size_t>(frame)].local_base;
}

// Room for `bytes` of local memory in every thread of the block: what is there keeps its place in its thread's.
void grow_local(Block& block, uint64_t bytes) {
    if (bytes <= block.local_bytes) return;
    const uint64_t limit = stack_limit(*block.grid);
    const auto wanted = static_cast<uint32_t>(std::min(limit, std::max(bytes, uint64_t{block.local_bytes} * 2)));
    const size_t threads = block.grid->config->block.count();
    std::vector<std::byte> larger(threads * wanted, std::byte{});
    for (size_t t = 0; t < threads && block.local_bytes; ++t)
        std::memcpy(larger.data() + t * wanted, block.local.data() + t * block.local_bytes, block.local_bytes);
    block.local = std::move(larger);
    block.local_bytes = wanted;
}

// One side of what a call passes.
struct CallSide {
    std::byte* registers;  // of the frame
    std::byte* local;      // of the warp's first thread, where the frame begins
    const ptx::Passed& passed;
};

// A register of `from` or its local memory -> those of `to`, in the lanes of `mask`. Narrow values are filled up with zeros.
void pass(const Warp& warp, const CallSide& from, const CallSide& to, uint32_t mask) {
    const std::byte* const constants = warp.block->grid->plan->constants;
    const size_t stride = warp.block->local_bytes;
    const bool from_register = from.passed.operand != ptx::no_operand, to_register = to.passed.operand != ptx::no_operand;
    const std::byte* const source = !from_register             ? from.local + from.passed.offset
                                    : from.passed.operand >= 0 ? from.registers + from.passed.operand
                                                               : constants + ~from.passed.operand;
    std::byte* const target = to_register ? to.registers + to.passed.operand : to.local + to.passed.offset;
    if (from_register && to_register && !from.passed.bytes && !to.passed.bytes) {  // predicates
        uint32_t bits, old;
        std::memcpy(&bits, source, 4);
        std::memcpy(&old, target, 4);
        old = (old & ~mask) | (bits & mask);
        std::memcpy(target, &old, 4);
        return;
    }
    const size_t bytes = std::min(from.passed.bytes, to.passed.bytes);
    if (!to_register && warp.block->grid->checker) {
        const std::byte* const first = warp.block->local.data() + size_t{warp.index} * warp_size * stride;
        note_local_written(warp, mask, static_cast<uint64_t>(target - first), to.passed.bytes);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<size_t>(__builtin_ctz(rest));
        const std::byte* const s = source + lane * (from_register ? from.passed.bytes : stride);
        std::byte* const d = target + lane * (to_register ? to.passed.bytes : stride);
        std::memcpy(d, s, bytes);
        if (bytes < to.passed.bytes) std::memset(d + bytes, 0, to.passed.bytes - bytes);
    }
}

std::byte* local_at(const Warp& warp, uint32_t base) {
    Block& block = *warp.block;
    return block.local.data() + size_t{warp.index} * warp_size * block.local_bytes + base;
}

Fault* overflow(const Warp& warp, uint32_t pc, uint32_t mask, uint32_t depth, const std::string& what) {
    return make_fault(warp, pc, static_cast<uint32_t>(__builtin_ctz(mask)), "stack overflow",
                      std::to_string(depth) + " calls deep in " + warp.block->grid->program->shown_name() + " on " +
                          place_of(*warp.block->grid->program, pc) + ", " + what);
}

uint64_t room_of(const CallFrame& frame) {
    return frame.registers.capacity() * sizeof(RegisterLine);
}

uint64_t bytes_of(const CallFrame& frame) {
    return frame.registers.size() * sizeof(RegisterLine);
}

void give_back(Warp& warp, int32_t number) {
    CallFrame& frame = warp.frames[static_cast<size_t>(number)];
    assert(frame.function >= 0 && warp.frame_bytes >= bytes_of(frame));
    warp.frame_bytes -= bytes_of(frame);
    frame.function = -1;
    frame.caller = warp.unused_frame;
    frame.lanes = 0;
    warp.unused_frame = number;
    if (warp.unused_bytes + room_of(frame) > most_unused_bytes) std::vector<RegisterLine>().swap(frame.registers);
    warp.unused_bytes += room_of(frame);
}

// A frame for a call of `function` by the lanes in `mask`, of frame `caller`.
Fault* open_frame(Warp& warp, uint32_t pc, uint32_t mask, int32_t function, int32_t caller, int32_t& opened) {
    Block& block = *warp.block;
    const Grid& grid = *block.grid;
    const ptx::Function& callee = grid.program->functions[static_cast<size_t>(function)];
    const uint32_t depth = 1 + (caller < 0 ? 0 : warp.frames[static_cast<size_t>(caller)].depth);
    const uint32_t base = base_of(warp, caller) + function_of(warp, caller).local_bytes;
    const uint64_t end = uint64_t{base} + callee.local_bytes, most = stack_limit(grid);
    const size_t lines = std::max<size_t>(1, (size_t{callee.register_bytes} + 63) / 64);
    if (depth > most_depth)
        return overflow(warp, pc, mask, depth, "at most " + std::to_string(most_depth) + " are possible");
    if (end > most)
        return overflow(warp, pc, mask, depth,
                        "a thread needs " + size_text(end) + " of local memory and can have " + size_text(most));
    if (warp.frame_bytes + lines * sizeof(RegisterLine) > frame_limit(grid))
        return overflow(warp, pc, mask, depth,
                        "the registers of a warp's calls can take " + size_text(frame_limit(grid)) + " here");
    opened = warp.unused_frame;
    if (opened < 0) {
        opened = static_cast<int32_t>(warp.frames.size());
        warp.frames.emplace_back();
    } else {
        warp.unused_frame = warp.frames[static_cast<size_t>(opened)].caller;
        warp.unused_bytes -= room_of(warp.frames[static_cast<size_t>(opened)]);
    }
    CallFrame& frame = warp.frames[static_cast<size_t>(opened)];
    frame.function = function;
    frame.caller = caller;
    frame.call_pc = pc;
    frame.depth = depth;
    frame.local_base = base;
    frame.lanes = mask;
    if (room_of(frame) > 2 * lines * sizeof(RegisterLine)) std::vector<RegisterLine>().swap(frame.registers);
    frame.registers.assign(lines, RegisterLine{});
    warp.frame_bytes += bytes_of(frame);
    grow_local(block, end);
    std::byte* const registers = registers_of(warp, opened);
    if (callee.base32 != ptx::no_operand)
        std::fill_n(reinterpret_cast<uint32_t*>(registers + callee.base32), warp_size, base);
    if (callee.base64 != ptx::no_operand)
        std::fill_n(reinterpret_cast<uint64_t*>(registers + callee.base64), warp_size, uint64_t{base});
    return nullptr;
}

// Pushes the callee's path, with its arguments.
Fault* enter(Warp& warp, uint32_t pc, const ptx::CallSite& site, int32_t function, int32_t caller, uint32_t mask) {
    int32_t opened = -1;
    if (Fault* fault = open_frame(warp, pc, mask, function, caller, opened)) return fault;
    const ptx::Function& callee = warp.block->grid->program->functions[static_cast<size_t>(function)];
    std::byte* const from = registers_of(warp, caller);
    std::byte* const to = registers_of(warp, opened);
    std::byte* const from_local = local_at(warp, base_of(warp, caller));
    std::byte* const to_local = local_at(warp, base_of(warp, opened));
    for (size_t k = 0; k < site.arguments.size(); ++k)
        pass(warp, {from, from_local, site.arguments[k]}, {to, to_local, callee.parameters[k]}, mask);
    warp.stack.push_back({callee.begin, ptx::no_pc, mask, opened});
    if (!warp.waits.empty()) warp.waits.resize(warp.stack.size());
    return nullptr;
}

Fault* call_fault(const Warp& warp, uint32_t pc, uint32_t lane, std::string message, uint64_t address) {
    return make_fault(warp, pc, lane, "call", std::move(message), address);
}

std::string counts(size_t parameters, size_t results) {
    return std::to_string(parameters) + (parameters == 1 ? " parameter" : " parameters") + " and " +
           std::to_string(results) + (results == 1 ? " result" : " results");
}

bool alike(const std::vector<ptx::Passed>& given, const std::vector<ptx::Passed>& formal) {
    if (given.size() != formal.size()) return false;
    for (size_t k = 0; k < given.size(); ++k) {
        const bool in_memory = given[k].operand == ptx::no_operand && formal[k].operand == ptx::no_operand;
        if (in_memory ? given[k].bytes != formal[k].bytes : (given[k].bytes == 0) != (formal[k].bytes == 0)) return false;
        // A register takes no more than its own width.
        if (!in_memory && std::max(given[k].bytes, formal[k].bytes) > 16) return false;
        if (!in_memory && given[k].bytes != formal[k].bytes && std::max(given[k].bytes, formal[k].bytes) > 2) return false;
    }
    return true;
}

// Which function lane `lane` calls at `address`.
Fault* function_at(const Warp& warp, uint32_t pc, uint32_t lane, const ptx::CallSite& site, uint64_t address,
                   int32_t& function) {
    const ptx::Program& program = *warp.block->grid->program;
    const uint64_t at = address - ptx::function_window;
    const uint64_t number = at / ptx::function_bytes - 1;
    if (address == 0) return call_fault(warp, pc, lane, "a call through a null function pointer", 0);
    if (address < ptx::function_window || at % ptx::function_bytes || number >= program.function_at.size())
        return call_fault(warp, pc, lane, "a call of " + hex(address) + ", which is not the address of a function", address);
    function = program.function_at[number];
    if (function < 0) return call_fault(warp, pc, lane, "a call of a function that has no code in this program", address);
    const ptx::Function& callee = program.functions[static_cast<size_t>(function)];
    if (!callee.problem.empty())
        return call_fault(warp, pc, lane, "a call of '" + callee.name + "', which cannot run here: " + callee.problem,
                          address);
    if (!alike(site.arguments, callee.parameters) || !alike(site.results, callee.results))
        return call_fault(warp, pc, lane,
                          "a call of '" + callee.name + "' with " + counts(site.arguments.size(), site.results.size()) +
                              ", but it has " + counts(callee.parameters.size(), callee.results.size()) +
                              " or others in size",
                          address);
    return nullptr;
}

}  // namespace

Fault* call(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    const ptx::Program& program = *warp.block->grid->program;
    const ptx::CallSite& site = program.calls[static_cast<size_t>(p.offset)];
    const int32_t caller = warp.stack.back().frame;
    Fault* fault = nullptr;
    if (site.function >= 0) {
        const ptx::Function& callee = program.functions[static_cast<size_t>(site.function)];
        if (!callee.problem.empty())
            return call_fault(warp, pc, static_cast<uint32_t>(__builtin_ctz(mask)),
                              "a call of '" + callee.name + "', which cannot run here: " + callee.problem, 0);
        fault = enter(warp, pc, site, site.function, caller, mask);
    } else {
        uint64_t addresses[warp_size];
        std::memcpy(addresses, operand(warp, p.a), sizeof addresses);
        uint32_t groups[warp_size];  // of lanes that call the same, that of the first lane first
        int32_t functions[warp_size];
        size_t count = 0;
        for (uint32_t rest = mask; rest && !fault; ++count) {
            const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
            groups[count] = 0;
            for (uint32_t others = rest; others; others &= others - 1)
                if (addresses[__builtin_ctz(others)] == addresses[lane]) groups[count] |= others & (~others + 1);
            rest &= ~groups[count];
            fault = function_at(warp, pc, lane, site, addresses[lane], functions[count]);
        }
        while (!fault && count-- > 0) {
            fault = enter(warp, pc, site, functions[count], caller, groups[count]);
        }
    }
    if (!fault) follow_frame(warp);
    return fault;
}

Fault* come_back(Warp& warp, uint32_t mask) {
    const int32_t frame = warp.stack.back().frame;
    assert(frame >= 0 && (warp.frames[static_cast<size_t>(frame)].lanes & mask) == mask);
    CallFrame& from = warp.frames[static_cast<size_t>(frame)];
    const ptx::Program& program = *warp.block->grid->program;
    const ptx::Function& callee = program.functions[static_cast<size_t>(from.function)];
    const ptx::CallSite& site = ptx::call_site(program, program.instructions[from.call_pc]);
    std::byte* const to = registers_of(warp, from.caller);
    std::byte* const to_local = local_at(warp, base_of(warp, from.caller));
    for (size_t k = 0; k < site.results.size(); ++k)
        pass(warp, {warp.registers, local_at(warp, from.local_base), callee.results[k]}, {to, to_local, site.results[k]},
             mask);
    // The caller's path waits below all paths of the callee.
    const int32_t caller = from.caller;
    for (size_t k = warp.stack.size(); k-- > 0;) {
        StackEntry& entry = warp.stack[k];
        if (entry.frame == caller && (entry.mask & mask)) break;
        if (entry.frame != frame) continue;
        entry.mask &= ~mask;
        if (entry.mask) continue;
        warp.stack.erase(warp.stack.begin() + static_cast<std::ptrdiff_t>(k));
        if (!warp.waits.empty()) warp.waits.erase(warp.waits.begin() + static_cast<std::ptrdiff_t>(k));
    }
    from.lanes &= ~mask;
    if (!from.lanes) give_back(warp, frame);
    if (!warp.waits.empty()) return choose_path(warp);
    follow_frame(warp);
    return nullptr;
}

void leave_frames(Warp& warp) {
    for (size_t k = 0; k < warp.frames.size(); ++k) {
        CallFrame& frame = warp.frames[k];
        if (frame.function < 0) continue;
        frame.lanes &= ~warp.exited;
        if (!frame.lanes) give_back(warp, static_cast<int32_t>(k));
    }
    if (!warp.stack.empty()) follow_frame(warp);
}

void forget_frames(Warp& warp) {
    for (size_t k = 0; k < warp.frames.size(); ++k)
        if (warp.frames[k].function >= 0) give_back(warp, static_cast<int32_t>(k));
}

Fault* table_target(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, uint32_t& target, uint32_t& taken) {
    const auto& program = *warp.block->grid->program;
    const std::span<const int32_t> targets = ptx::table_of(program.lists, program.instructions[pc]);
    const uint32_t* const index = words(warp, p.a);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (index[lane] >= targets.size())
            return make_fault(warp, pc, lane, "branch",
                              "a jump by index " + std::to_string(index[lane]) + " of a table with " +
                                  std::to_string(targets.size()) + (targets.size() == 1 ? " target" : " targets"));
    }
    const auto target_of = [&](uint32_t lane) { return static_cast<uint32_t>(targets[index[lane]]); };
    target = target_of(static_cast<uint32_t>(__builtin_ctz(mask)));
    taken = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (target_of(static_cast<uint32_t>(__builtin_ctz(rest))) == target) taken |= rest & (~rest + 1);
    return nullptr;
}

void follow_frame(Warp& warp) {
    const ptx::Program& program = *warp.block->grid->program;
    const int32_t frame = warp.stack.empty() ? -1 : warp.stack.back().frame;
    warp.registers = registers_of(warp, frame);
    warp.local_base = base_of(warp, frame);
    warp.local_end =
        program.functions.empty() ? program.local_bytes : warp.local_base + function_of(warp, frame).local_bytes;
}

std::byte* local_of(Warp& warp, uint32_t lane, uint32_t offset) {
    Block& block = *warp.block;
    return block.local.data() + (size_t{warp.index} * warp_size + lane) * block.local_bytes + warp.local_base + offset;
}

}  // namespace lockstep::simt
