// How a race is explained: which of the two comes first in the program, whether they stand in one loop, and where a barrier
// is that does not help. Two threads meet at accesses A (a write) and B:
//
//   A ... B          a barrier is missing between them
//   B ... A          the same, the other way round: all must have read before anybody writes
//   loop: A | B      a barrier stands between A and B of one round, none between B and the A of the next round
//   loop: A B        none at all
//   A | B A | B      the third, unrolled
#include <vector>

#include "core/ptx/analyse/control_flow.h"
#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"

namespace lockstep::simt {

namespace {

// All that a thread may come to behind `from`.
std::vector<bool> all_after(const ptx::Program& program, uint32_t from) {
    std::vector<bool> seen(program.instructions.size() + 1, false);
    std::vector<uint32_t> open;
    if (from < program.instructions.size()) ptx::each_successor(program, from, [&](uint32_t next) { open.push_back(next); });
    while (!open.empty()) {
        const uint32_t pc = open.back();
        open.pop_back();
        if (pc >= program.instructions.size() || seen[pc]) continue;
        seen[pc] = true;
        ptx::each_successor(program, pc, [&](uint32_t next) { open.push_back(next); });
    }
    return seen;
}

// Where the barrier of the block is that a thread passes on its way from one to the other: "tile.cu:9"; "" none.
std::string barrier_between(const ptx::Program& program, uint32_t from, uint32_t to, const std::string& at) {
    const std::string file = at.substr(0, at.rfind(':'));
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const auto& i = program.instructions[pc];
        if (i.kind != ptx::Kind::barrier || ptx::as_barrier(i).operation == ptx::BarrierOperation::arrive || i.line <= 0)
            continue;
        if (leads_without_barrier(program, from, pc) && (pc + 1 == to || leads_without_barrier(program, pc + 1, to)))
            return file + ":" + std::to_string(i.line);
    }
    return {};
}

// Where a compiler has written the rounds of a loop out one after the other, a read and the write of the next round stand in
// a row: the barrier between the write of the read's own round, on the same line, and the read; "": there is none.
std::string barrier_of_own_round(const ptx::Program& program, const RacePair& race) {
    if (race.first >= program.instructions.size() || race.first_at == race.second_at) return {};
    const ptx::DecodedInstruction& next = program.instructions[race.first];
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& own = program.instructions[pc];
        if (pc == race.first || own.kind != next.kind || own.line != next.line || own.file != next.file || own.line <= 0 ||
            leads_without_barrier(program, pc, race.second))
            continue;
        if (const std::string stop = barrier_between(program, pc, race.second, race.first_at); !stop.empty()) return stop;
    }
    return {};
}

const char* done_to(AccessKind kind) {
    return kind == AccessKind::read || kind == AccessKind::strong_read ? "read" : "written";
}

// "sum += x" of one word by several threads: the two accesses go by the same register, so each thread writes back what it
// has read.
bool is_update(const ptx::Program& program, const RacePair& race) {
    if (race.first >= program.instructions.size() || race.second >= program.instructions.size()) return false;
    const ptx::DecodedInstruction *store = &program.instructions[race.first], *load = &program.instructions[race.second];
    if (store->kind == ptx::Kind::load) std::swap(store, load);
    return store->kind == ptx::Kind::store && load->kind == ptx::Kind::load && store->space == load->space &&
           store->address == load->address && store->offset == load->offset && store->variable == load->variable;
}

// Where reading and writing stand on one line, a barrier has no place between them.
bool explain_one_line(const ptx::Program& program, const RacePair& race, std::string& advice) {
    if (is_update(program, race)) {
        advice =
            "Threads read the value, change it and write it back, and what another one did meanwhile is lost: use an atomic "
            "(atomicAdd), or add up in each block first and let one thread add the block's sum.";
        return true;
    }
    if (race.first_at != race.second_at) return false;
    if (!race.one_block)
        advice = "Let the kernel write to a second array: blocks run in any order, and others still read here.";
    else
        advice = std::string("Read what is needed into a variable first, then a barrier, then write") +
                 (race.global ? "; where several blocks work on the array, let the kernel write to a second one." : ".");
    return true;
}

// "if (x > *m) atomicExch(m, x)".
bool explain_check_then_act(const ptx::Program& program, const RacePair& race, std::string& advice) {
    const bool first = race.first_kind == AccessKind::atomic, second = race.second_kind == AccessKind::atomic;
    if (first == second || (first ? race.second_kind : race.first_kind) != AccessKind::read) return false;
    const uint32_t exchange = first ? race.first : race.second, read = first ? race.second : race.first;
    if (!is_blind_exchange(program, exchange) || !leads_without_barrier(program, read, exchange)) return false;
    advice =
        "Let one atomic do both: atomicMax() or atomicMin(), or where there is none for the type a loop with atomicCAS() "
        "that looks again when another thread was faster.";
    return true;
}
constexpr const char* of_check_then_act =
    ": another thread may change it between the read and the exchange, which writes over it without looking";

// A read that a thread does again and again until somebody has changed what it reads: in a short loop without another
// access, at an address that stays.
bool waits_for_change(const ptx::Program& program, uint32_t pc) {
    constexpr size_t longest = 40;
    if (pc >= program.instructions.size()) return false;
    const ptx::DecodedInstruction& read = program.instructions[pc];
    if (read.kind != ptx::Kind::load && read.kind != ptx::Kind::atomic) return false;
    const std::vector<bool> after = all_after(program, pc);
    if (!after[pc]) return false;
    size_t length = 0;
    for (uint32_t at = 0; at < program.instructions.size(); ++at) {
        if (!after[at] || !all_after(program, at)[pc]) continue;
        const ptx::DecodedInstruction& i = program.instructions[at];
        const bool other = at != pc && (i.kind == ptx::Kind::store || i.kind == ptx::Kind::atomic);
        if (++length > longest || other || i.kind == ptx::Kind::barrier) return false;
        if (ptx::is_register(read.address) && ptx::writes(program, i, read.address)) return false;
    }
    return true;
}

// "while (atomicAdd(flag, 0) == 0);" here and "*flag = 1" there.
bool explain_flag(const ptx::Program& program, const RacePair& race, std::string& advice) {
    const bool first = waits_for_change(program, race.first), second = waits_for_change(program, race.second);
    const AccessKind other = first ? race.second_kind : race.first_kind;
    if (first == second || other != AccessKind::write) return false;
    const std::string& loop = first ? race.first_at : race.second_at;
    const std::string& store = first ? race.second_at : race.first_at;
    const char* const fence = race.one_block ? "__threadfence_block()" : "__threadfence()";
    advice = "The loop at " + loop + " waits for what " + store + " writes: write it by an atomic, atomicExch(), behind a " +
             fence + " so that what was written before it is seen before it. " +
             (race.one_block ? "A __syncthreads() between the two would be one that the waiting thread never comes to."
                             : "The other block has to run meanwhile: launch no more blocks than run at once.");
    return true;
}

std::string between_blocks(const ptx::Program& program, const RacePair& race, std::string& advice) {
    const bool atomic = race.first_kind == AccessKind::atomic || race.second_kind == AccessKind::atomic;
    const bool reads = race.second_kind == AccessKind::read;
    if (explain_check_then_act(program, race, advice)) return of_check_then_act;
    if (explain_flag(program, race, advice)) return ", with nothing between them that orders the two blocks";
    if (!atomic && reads && explain_one_line(program, race, advice))
        return ", with nothing between them that orders the two blocks";
    if (atomic && reads)
        advice = "Read it by an atomic as well, such as atomicAdd(&x, 0), or read it in a kernel of its own after this one.";
    else if (reads)
        advice =
            "Blocks run in any order: do the part that reads in a second kernel, or let the last block do it, after a "
            "__threadfence() and an atomic counter.";
    else
        advice = "Blocks run in any order: let every block write elements of its own, or use an atomic.";
    return ", with nothing between them that orders the two blocks";
}

}  // namespace

std::string explain_race(const ptx::Program& program, const RacePair& race, std::string& advice) {
    if (!race.one_block) return between_blocks(program, race, advice);
    if (explain_check_then_act(program, race, advice)) return of_check_then_act;
    if (explain_flag(program, race, advice)) return ", with nothing between them that orders the two";
    const bool both_write = race.second_kind != AccessKind::read && race.second_kind != AccessKind::strong_read;
    if (race.first == race.second && both_write) {
        advice = "Let one thread write it, let each write an element of its own, or use an atomic.";
        return race.one_warp ? ", with nothing to say which comes last" : ", with no barrier between them";
    }
    const std::string step = race.one_warp ? ": threads of one warp do not run in step" : "";
    const char* const barrier =
        race.one_warp ? "a __syncwarp(), or a __syncthreads() where other warps take part," : "a __syncthreads()";
    const bool down = leads_without_barrier(program, race.first, race.second);
    const bool up = leads_without_barrier(program, race.second, race.first);
    const bool loop = all_after(program, race.first)[race.second] && all_after(program, race.second)[race.first];
    if (!down && up) {
        std::string stop = loop ? barrier_between(program, race.first, race.second, race.first_at) : "";
        if (stop.empty()) stop = barrier_of_own_round(program, race);
        if (!stop.empty()) {
            advice = "Put another __syncthreads() at the end of the loop's body, behind " + race.second_at +
                     ", so that nobody begins the next round while others still need this one.";
            return ", with no barrier between them in this order: " + std::string(done_to(race.second_kind)) + " at " +
                   race.second_at + " in round k of the loop, then " + done_to(race.first_kind) + " at " + race.first_at +
                   " in round k + 1; the barrier at " + stop +
                   " stands between the two of one round and does not separate these" + step;
        }
    }
    // A read behind a write of its own line, and no way back: the rounds of a loop that was unrolled.
    if (down && (!loop || up) && race.first_at == race.second_at && !is_update(program, race)) {
        advice = "The two stand on one line of a loop: put " + std::string(barrier) +
                 " at the end of the loop's body; where a thread reads in the same round what another one writes, read "
                 "first, then a barrier, then write.";
        return ", with no barrier between them" + step;
    }
    const bool one_reads = (race.first_kind == AccessKind::read) != (race.second_kind == AccessKind::read);
    if (one_reads && explain_one_line(program, race, advice)) return ", with no barrier between them" + step;
    if (down && up && loop)
        advice = "The two stand in one loop: put " + std::string(barrier) + " between " + race.first_at + " and " +
                 race.second_at + ", and another one before the next round.";
    else if (down)
        advice = "Put " + std::string(barrier) + " between " + race.first_at + " and " + race.second_at + ".";
    else if (up)
        advice = "Put " + std::string(barrier) + " between " + race.second_at + " and " + race.first_at +
                 ", so that all have " + done_to(race.second_kind) + " before anybody " +
                 (race.first_kind == AccessKind::read ? "reads." : "writes.");
    return ", with no barrier between them" + step;
}

}  // namespace lockstep::simt
