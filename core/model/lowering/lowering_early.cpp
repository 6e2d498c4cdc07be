// Loads that ptxas moves up, and the short loops that it unrolls for that.
#include <unordered_set>

#include "core/model/lowering/lowering_pass.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model::lowering {
namespace {
constexpr uint32_t most_early = 48;  // loads ahead of their uses cost registers: 40 machine instructions are usual
constexpr uint32_t most_words = 32;  // that loads from global memory moved to one place bring a lane
constexpr uint32_t unrolled = 4, most_unrolled = 28;  // rounds, and machine instructions of a loop that is
constexpr uint32_t most_hops = 4;                     // copies of a counter that are followed
constexpr uint32_t arithmetic_cycles = 4;             // in which a warp by itself issues as many instructions
}  // namespace

// ptxas moves loads up, together with the arithmetic of their addresses, so that they are under way together: a load counts
// as issued when a mark in front of it was.
//   shared memory: the farther of two marks, most_early / 2 instructions apart and the first behind what holds loads up
//   global memory: the first load since the last barrier, store to global memory or call, as far as registers go; stores to
//                  shared memory are another state space and hold nothing up
void Pass::hoist_loads(uint32_t begin, uint32_t end) {
    struct Known {            // a register's value:
        uint32_t to = 0;      // what it is made of is there from here on
        uint32_t cycles = 0;  // that the arithmetic behind that takes
    };
    std::unordered_map<int32_t, Known> known;
    uint32_t mark[2] = {none, none}, global_mark = none, last_mark = none, words = 0, marks = 0;
    bool held = false;  // loads of the next round stay behind something
    int8_t latest = 0;
    const uint32_t last_load = last_shared_load(begin, end);
    for (uint32_t pc = begin; pc < end; ++pc) {
        const DecodedInstruction& in = code[pc];
        if (out[pc].predicated != Predicated::no) continue;
        uint32_t to = begin, cycles = 0;
        const auto waits_for = [&](int32_t r) {
            const auto found = known.find(r);
            if (found == known.end()) return;
            to = std::max(to, found->second.to);
            cycles = std::max(cycles, found->second.cycles);
        };
        each_read(in, waits_for);
        const bool may_keep = out[pc].under != no_operand;  // what the register held
        if (may_keep) waits_for(out[pc].under);
        const bool arithmetic = in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many;
        const bool lanes = arithmetic || in.kind == Kind::special_register;
        const uint32_t more = out[pc].instructions == 0 ? 0 : arithmetic_cycles;
        each_write(in, [&](int32_t r) {
            Known& now = known[r];
            const Known before = now;
            now = arithmetic ? Known{to, cycles + more} : Known{pc + 1, 0};
            if (may_keep) now = {std::max(now.to, before.to), std::max(now.cycles, before.cycles)};
        });
        const bool plain_load = ptx::is_weak_load(in);
        if (plain_load && in.space == Space::global) {
            const auto takes = static_cast<uint32_t>((size_of(in.destination_type) + 3) / 4 * in.vector);
            if (global_mark != none && to <= global_mark && words + takes <= most_words) {
                out[pc].from_mark = global_marks;
                words += takes;
            } else {
                out[pc].sets_mark = global_marks;
                global_mark = last_mark = pc;
                words = takes;
                ++marks;
            }
            continue;
        }
        if (!lanes && !plain_load) {
            const bool store = (in.kind == Kind::store && !ptx::as_access(in).strong) ||
                               (in.kind == Kind::atomic && ptx::as_atomic(in).operation == ptx::AtomicOperation::add);
            if (!store || in.space != Space::shared) global_mark = none;  // loads stay behind them
            held |= in.kind != Kind::branch && global_mark == none;
            if (!store || in.space != Space::global) mark[0] = mark[1] = none;
            latest = 0;
            continue;
        }
        if (plain_load && in.space == Space::shared) {
            uint32_t farthest = pc;
            for (int8_t k = 0; k < 2; ++k)
                if (mark[k] != none && mark[k] >= to + cycles && mark[k] < farthest) {
                    farthest = mark[k];
                    out[pc].from_mark = k;
                }
        }
        if (pc < last_load && (mark[latest] == none || pc - mark[latest] >= most_early / 2)) {
            if (mark[latest] != none) latest = static_cast<int8_t>(1 - latest);
            mark[latest] = pc;
            out[pc].sets_mark = latest;
        }
    }
    if (marks == 1 && !held) unroll(begin, end, last_mark, words);
}

// A loop without branches in it, but predicated ones, whose loads nothing holds up, in rounds that do not depend on what
// they load.
void Pass::unroll(uint32_t begin, uint32_t end, uint32_t mark, uint32_t words) {
    const DecodedInstruction& last = code[end - 1];
    if (last.kind != Kind::branch || last.target != begin || words == 0) return;
    uint32_t machine = 0;
    for (uint32_t pc = begin; pc < end; ++pc) machine += out[pc].instructions;
    const uint32_t rounds = std::min(unrolled, words_at_once() / words);
    if (machine > most_unrolled || rounds < 2 || code[begin].keeps_rolled || !counts_by_constants(begin, end) ||
        depends_on_loads(begin, end))
        return;
    out[mark].rounds = static_cast<uint8_t>(rounds);
    out[end - 1].loop = begin;
}

// What the registers hold besides sums and addresses, where it is known how many ptxas took.
uint32_t Pass::words_at_once() const {
    constexpr uint32_t others = 12;
    if (!program.registers_stated) return most_words;
    return std::min(most_words, registers - std::min(registers, others));
}

// Whether what the last branch decides by steps by constants from round to round, so that ptxas knows how many rounds are
// left. It leaves a loop rolled whose step is known when the kernel runs, like the threads of the grid: so for sm_75 to
// sm_90.
bool Pass::counts_by_constants(uint32_t begin, uint32_t end) const {
    const auto writer_of = [&](int32_t reg) {
        uint32_t writer = none;
        for (uint32_t pc = begin; pc < end; ++pc)
            if (writes_to(pc, reg)) writer = pc;
        return writer;
    };
    const uint32_t compare = writer_of(code[end - 1].guard);
    if (code[end - 1].guard == no_operand || compare == none) return false;
    const auto steps = [&](int32_t counter) {
        if (writer_of(counter) == none) return true;  // the same in each round
        int32_t reg = counter;
        for (uint32_t hops = 0; hops < most_hops; ++hops) {
            const uint32_t writer = writer_of(reg);
            if (writer == none || !plain(writer)) return false;
            const DecodedInstruction& in = code[writer];
            const bool by_constant = (does(writer) == Does::sum || does(writer) == Does::difference) && in.source[1] < 0;
            if (!by_constant && does(writer) != Does::copy) return false;
            reg = in.source[0];
            if (reg == counter) return true;
        }
        return false;
    };
    bool constant = true;
    each_read(code[compare], [&](int32_t reg) { constant &= steps(reg); });
    return constant;
}

// Whether where a round loads from, or whether there is another one, depends on what an earlier one loaded.
bool Pass::depends_on_loads(uint32_t begin, uint32_t end) const {
    std::unordered_set<int32_t> loaded;
    size_t before = SIZE_MAX;
    for (uint32_t pass = 0; pass < most_passes && before != loaded.size(); ++pass) {
        before = loaded.size();
        for (uint32_t pc = begin; pc < end; ++pc) {
            const DecodedInstruction& in = code[pc];
            bool depends =
                in.kind != Kind::lane_wise && in.kind != Kind::lane_wise_many && in.kind != Kind::special_register;
            each_read(in, [&](int32_t r) { depends |= loaded.contains(r); });
            depends |= out[pc].under != no_operand && loaded.contains(out[pc].under);
            if (depends) each_write(in, [&](int32_t r) { loaded.insert(r); });
        }
    }
    if (before != loaded.size()) return true;
    for (uint32_t pc = begin; pc < end; ++pc) {
        const DecodedInstruction& in = code[pc];
        if ((in.kind != Kind::load && in.kind != Kind::branch) || out[pc].predicated != Predicated::no) continue;
        bool depends = out[pc].under != no_operand && loaded.contains(out[pc].under);
        each_read(in, [&](int32_t r) { depends |= loaded.contains(r); });
        if (depends) return true;
    }
    return false;
}

uint32_t Pass::last_shared_load(uint32_t begin, uint32_t end) const {
    for (uint32_t pc = end; pc-- > begin;)
        if (code[pc].kind == Kind::load && code[pc].space == Space::shared) return pc;
    return begin;
}

}  // namespace lockstep::model::lowering
