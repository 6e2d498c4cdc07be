// Barriers that not all threads of the block come to, and barriers of two lines that are taken for one. The machine lets
// both through, as silicon does: threads that have ended are not waited for, and a barrier counts who comes, wherever that
// is. In CUDA all threads that have not returned must come to the same one.
//
// Which threads turned away where is read from their predicates: of the branches that decide whether a thread comes to the
// barrier, the first one whose predicate leads away. An early return compiles to the same as an if around all that follows:
// the source tells them apart, and where that is not to be had nothing is said unless real code follows behind the branch.
#include <algorithm>

#include "core/ptx/analyse/control_flow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/findings.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

namespace {

constexpr uint32_t most_looks = 64;  // at one barrier
constexpr size_t most_branches = 4096;

// Whether a thread that stands at `from` may come to `to` without passing `meet`.
bool comes_to(const ptx::Program& program, uint32_t from, uint32_t to, uint32_t meet) {
    std::vector<bool> seen(program.instructions.size(), false);
    std::vector<uint32_t> open{from};
    while (!open.empty()) {
        const uint32_t pc = open.back();
        open.pop_back();
        if (pc == meet || pc >= seen.size() || seen[pc]) continue;
        if (pc == to) return true;
        seen[pc] = true;
        ptx::each_successor(program, pc, [&](uint32_t next) { open.push_back(next); });
    }
    return false;
}

// The branches of the kernel itself that decide whether a thread comes to the barrier at `pc`, in the order of the text.
std::vector<Guard> find_guards(const ptx::Program& program, uint32_t barrier) {
    std::vector<Guard> guards;
    const ptx::CodeRange kernel = ptx::functions_of(program).front();
    if (barrier < kernel.begin || barrier >= kernel.end) return guards;
    size_t branches = 0;
    for (uint32_t pc = kernel.begin; pc < kernel.end && branches < most_branches; ++pc) {
        const auto& i = program.instructions[pc];
        if (i.kind != ptx::Kind::branch || i.guard == ptx::no_operand) continue;
        ++branches;
        const bool taken = comes_to(program, i.target, barrier, i.reconvergence);
        const bool behind = comes_to(program, pc + 1, barrier, i.reconvergence);
        if (taken != behind) guards.push_back({pc, behind});
    }
    return guards;
}

const std::vector<Guard>& guards_of(const Grid& grid, uint32_t barrier) {
    const auto [found, fresh] = grid.findings->guards.try_emplace(barrier);
    if (fresh) found->second = find_guards(*grid.program, barrier);
    return found->second;
}

// Of lanes: those that turned away at each guard.
template <class Take>
void each_turn(const Warp& warp, const std::vector<Guard>& guards, uint32_t lanes, const Take& take) {
    const std::byte* const registers = kernel_registers(warp);
    for (const Guard& guard : guards) {
        const auto& branch = warp.block->grid->program->instructions[guard.branch];
        const uint32_t holds =
            *reinterpret_cast<const uint32_t*>(registers + branch.guard) ^ (branch.guard_negated ? full_mask : 0);
        const uint32_t away = lanes & (guard.away_when_taken ? holds : ~holds);
        if (away) take(guard.branch, away);
        lanes &= ~away;
    }
}

struct Skipped {
    uint32_t branch = 0, threads = 0;
    Dim3 first;
};

std::string count_text(uint64_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// "the if on line 6", "the loop on line 6", of a branch that leads past a barrier; "" where the source says that it is an
// early return, or nothing can be told.
std::string what_skips(const Grid& grid, uint32_t branch, uint32_t barrier) {
    const ptx::Program& program = *grid.program;
    const auto &at = program.instructions[branch], &stop = program.instructions[barrier];
    const auto statement = grid.findings->source.statement_at(program, at.file, at.line);
    const std::string on = place_of(program, branch);
    if (!statement) {
        const bool meets = at.reconvergence != ptx::no_pc && !is_common_tail(program, at.reconvergence);
        return meets ? "the condition on " + on : std::string();
    }
    if (at.file == stop.file && at.line == stop.line && statement->returns) return {};  // all on one line: who can tell
    const bool inside = at.file == stop.file && stop.line >= statement->first && stop.line <= statement->last;
    const std::string name = statement->keyword == "if" ? "the `if` on " + on : "the loop on " + on;
    if (inside) return name;
    return statement->breaks && !statement->returns ? name : std::string();
}

void warn_of_skipped(const Block& block, const Warp& at, uint32_t barrier, uint32_t lanes, uint64_t came,
                     const Skipped& skipped) {
    const Grid& grid = *block.grid;
    const std::string what = what_skips(grid, skipped.branch, barrier);
    if (what.empty()) return;
    const bool loop = what.find("loop") != std::string::npos;
    const std::string here = place_of(*grid.program, barrier);
    const uint64_t threads = grid.config->block.count();
    Fault fault =
        *make_fault(at, barrier, static_cast<uint32_t>(__builtin_ctz(lanes)), "synccheck",
                    "only " + std::to_string(came) + " of the block's " + count_text(threads, "thread") +
                        (came == 1 ? " comes" : " come") + " to the barrier on " + here + ": it stands inside " + what +
                        (loop ? ", which some threads leave earlier than others: " : ": ") +
                        count_text(skipped.threads, "thread") + ", thread " + triple(skipped.first) +
                        " first, went past it and ended; it opened all the same because threads that have ended are not "
                        "waited for, but CUDA asks every thread of the block that has not returned to come to it");
    fault.advice = loop ? "Let all threads of the block take the same number of rounds, and put the condition around the "
                          "work inside the loop, not around the __syncthreads()."
                        : "Move the __syncthreads() out of the `if`: put the condition around the loads and stores alone, "
                          "so that all threads come to the barrier.";
    add_warning(grid, "skipped " + here + " " + place_of(*grid.program, skipped.branch), std::move(fault));
}

struct Arrivals {  // at one barrier
    uint64_t threads = 0;
    const Warp* first = nullptr;
    uint32_t first_lanes = 0, pc = ptx::no_pc;
    const Warp* other = nullptr;  // that waits at another instruction
    uint32_t other_pc = ptx::no_pc;
    uint64_t other_threads = 0;
    bool counted = false;  // for a number of threads
};

Arrivals arrivals_of(const Block& block, uint32_t number) {
    Arrivals all;
    const auto add = [&](const Warp& warp, uint32_t pc, uint32_t lanes, uint32_t threads) {
        const auto count = static_cast<uint64_t>(__builtin_popcount(lanes));
        all.threads += count;
        all.counted = all.counted || threads != 0;
        if (!all.first) all.first = &warp, all.first_lanes = lanes, all.pc = pc;
        if (pc == all.pc) return;
        all.other = &warp;
        all.other_pc = pc;
        all.other_threads += count;
    };
    for (const Warp& warp : block.warps) {
        if (warp.done) continue;
        if (warp.at_barrier && warp.barrier_lanes && warp.barrier == number)
            add(warp, warp.barrier_pc, warp.barrier_lanes, warp.barrier_threads);
        for (size_t i = 0; i < warp.waits.size(); ++i)
            if (warp.waits[i].why == PathWait::Why::barrier && warp.waits[i].number == number)
                add(warp, warp.stack[i].pc, warp.waits[i].lanes, warp.waits[i].threads);
    }
    return all;
}

void look_at_missing(const Block& block, const Arrivals& here) {
    const Grid& grid = *block.grid;
    const std::vector<Guard>& guards = guards_of(grid, here.pc);
    if (guards.empty()) return;
    std::vector<Skipped> skipped;
    const uint64_t threads = grid.config->block.count();
    for (const Warp& warp : block.warps) {
        const uint64_t exist = threads - uint64_t{warp.index} * warp_size;
        const uint32_t real = exist >= warp_size ? full_mask : (1u << exist) - 1;
        uint32_t missing = warp.done ? real : real & (warp.exited | gone(warp));
        if (!missing) continue;
        if (!warp.done) {
            if (warp.at_barrier) missing &= ~warp.barrier_lanes;
            for (const PathWait& wait : warp.waits) missing &= ~wait.lanes;
        }
        each_turn(warp, guards, missing, [&](uint32_t branch, uint32_t lanes) {
            auto found = std::find_if(skipped.begin(), skipped.end(), [&](const Skipped& s) { return s.branch == branch; });
            if (found == skipped.end())
                found = skipped.insert(found, {branch, 0, thread_index(warp, static_cast<uint32_t>(__builtin_ctz(lanes)))});
            found->threads += static_cast<uint32_t>(__builtin_popcount(lanes));
        });
    }
    for (const Skipped& s : skipped) warn_of_skipped(block, *here.first, here.pc, here.first_lanes, here.threads, s);
}

// Warps that wait at two instructions of one barrier: one of them stands inside a branch that the others did not take.
void look_at_two(const Block& block, const Arrivals& here) {
    const Grid& grid = *block.grid;
    const ptx::Program& program = *grid.program;
    const auto &a = program.instructions[here.pc], &b = program.instructions[here.other_pc];
    if (a.line <= 0 || b.line <= 0 || (a.file == b.file && a.line == b.line)) return;
    for (const bool swapped : {false, true}) {
        const uint32_t inside = swapped ? here.other_pc : here.pc, outside = swapped ? here.pc : here.other_pc;
        const Warp& warp = swapped ? *here.other : *here.first;
        const Warp& past = swapped ? *here.first : *here.other;
        const uint32_t branch = turned_away_at(past, inside, swapped ? here.first_lanes : full_mask & ~past.exited);
        if (branch == ptx::no_pc) continue;
        const uint64_t in = swapped ? here.other_threads : here.threads - here.other_threads;
        const uint64_t out = here.threads - in;
        Fault fault =
            *make_fault(warp, inside, static_cast<uint32_t>(__builtin_ctz(~warp.exited | 0x80000000u)), "synccheck",
                        "two barriers are taken for one: " + count_text(in, "thread") + (in == 1 ? " waits" : " wait") +
                            " at the barrier on " + place_of(program, inside) + ", and " + count_text(out, "thread") +
                            ", which turned away on " + place_of(program, branch) + ", went past it to the barrier on " +
                            place_of(program, outside) +
                            "; the block has one barrier, which counts who comes, so that it opened for both, and neither "
                            "separates what "
                            "it stands between");
        fault.advice =
            "Let all threads of the block come to the same __syncthreads(): put the condition around the work, not "
            "around the barrier.";
        return add_warning(grid, "two barriers " + place_of(program, inside) + " " + place_of(program, outside),
                           std::move(fault));
    }
}

}  // namespace

uint32_t turned_away_at(const Warp& warp, uint32_t pc, uint32_t lanes) {
    uint32_t where = ptx::no_pc;
    if (!warp.block->grid->findings) return where;
    each_turn(warp, guards_of(*warp.block->grid, pc), lanes, [&](uint32_t branch, uint32_t) {
        if (where == ptx::no_pc) where = branch;
    });
    return where;
}

void look_at_barrier(const Block& block, uint32_t number) {
    const Grid& grid = *block.grid;
    if (!grid.findings || !grid.synccheck) return;
    const Arrivals here = arrivals_of(block, number);
    if (here.counted || !here.first) return;
    const bool all_came = here.threads == grid.config->block.count();
    if (all_came && !here.other) return;
    if (++grid.findings->looks[here.pc] > most_looks) return;
    if (here.other) look_at_two(block, here);
    if (!all_came) look_at_missing(block, here);
}

}  // namespace lockstep::simt
