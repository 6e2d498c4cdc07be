// Plain reads of a word that an atomic of another thread changes, with nothing that orders the two. Most are races: a
// counter that is read where the barrier behind the counting is missing. Two habits are none:
//
//   old = *word; do ... while (compare-and-swap(word, old, ...) fails)   the swap finds out whether the value was old
//   if (x < *word) atomicMin(word, x)                                    an old value costs an atomic, the atomic decides
//
// The first is told from the program: the load's value reaches what a compare-and-swap compares with. Nothing is said of it.
// Of the second the program tells that the read leads to the very atomic that it may race with, without a barrier between:
// a hint. Where the atomic is an exchange whose result nobody looks at, nothing decides: of `if (x > *word) atomicExch(word,
// x)` the largest may be lost. That is a race, unless the new value is a constant. (Reads of 2, 4 and 8 bytes come in one
// piece; of others, and of vectors, that cannot be said.)
//
// And for initcheck: wide reads, of which padding and members that nobody needs are a part; reads of local memory whose
// value goes nowhere but to local memory again. Copying an object of which some member was never set is legal C++, and so is
// setting one of its bit fields; code without optimisation does both all the time.
#include <algorithm>
#include <span>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;

using FunctionCode = std::span<const ptx::DecodedInstruction>;  // of one function: its registers are its own

FunctionCode code_of(const ptx::Program& program, ptx::CodeRange function) {
    return FunctionCode(program.instructions).subspan(function.begin, function.end - function.begin);
}

bool is_copy(const ptx::DecodedInstruction& i) {
    return ptx::facts_of(i).does == ptx::Does::copy && (i.kind == Kind::lane_wise || i.kind == Kind::lane_wise_many);
}

bool is_whole_read(const ptx::DecodedInstruction& i) {
    const size_t bytes = ptx::size_of(i.type);
    return ptx::is_weak_load(i) && i.vector == 1 && (bytes == 2 || bytes == 4 || bytes == 8);
}

// Where a thread may go from `pc` without coming to a barrier of the block or of the warp.
void add_next(const ptx::Program& program, uint32_t pc, std::vector<uint32_t>& next) {
    const auto& i = program.instructions[pc];
    if (i.kind == Kind::barrier || i.kind == Kind::warp_barrier) return;
    if (i.kind == Kind::call && i.target != ptx::no_pc) next.push_back(i.target);
    ptx::each_successor(program, pc, [&](uint32_t to) { next.push_back(to); });
}

}  // namespace

bool leads_without_barrier(const ptx::Program& program, uint32_t from, uint32_t to) {
    std::vector<bool> seen(program.instructions.size(), false);
    std::vector<uint32_t> next;
    add_next(program, from, next);
    while (!next.empty()) {
        const uint32_t pc = next.back();
        next.pop_back();
        if (pc == to) return true;
        if (pc >= seen.size() || seen[pc]) continue;
        seen[pc] = true;
        add_next(program, pc, next);
    }
    return false;
}

namespace {

// Setting a bit field: of the old word `and` takes away the field's bits, `or` adds the new ones; bfi does both. (An `or`
// alone is a use.)
struct BitFields {
    std::set<int32_t> masked;  // words without their field
    explicit BitFields(FunctionCode code) {
        for (const auto& i : code)
            if (is_and(i)) masked.insert(i.destination[0]);
    }
    static bool is_and(const ptx::DecodedInstruction& i) {
        return ptx::facts_of(i).does == ptx::Does::and_ && i.kind == Kind::lane_wise && i.source[1] < 0;
    }
    bool holds(const ptx::DecodedInstruction& i) const {
        const ptx::Does does = ptx::facts_of(i).does;
        const bool adds = does == ptx::Does::or_ && (masked.contains(i.source[0]) || masked.contains(i.source[1]));
        return adds || is_and(i) || does == ptx::Does::insert;
    }
};

// Adds the registers that moves bring to those in `registers`, by way of others too.
void add_copied(FunctionCode code, std::set<int32_t>& registers, const BitFields* fields = nullptr) {
    std::unordered_multimap<int32_t, int32_t> from;  // by destination
    for (const auto& i : code) {
        if (!is_copy(i) && !(fields && fields->holds(i))) continue;
        for (const int32_t d : i.destination)
            for (const int32_t s : i.source)
                if (d != ptx::no_operand && s != ptx::no_operand && s >= 0) from.emplace(d, s);
    }
    std::vector<int32_t> fresh(registers.begin(), registers.end());
    while (!fresh.empty()) {
        const auto [begin, end] = from.equal_range(fresh.back());
        fresh.pop_back();
        for (auto at = begin; at != end; ++at)
            if (registers.insert(at->second).second) fresh.push_back(at->second);
    }
}

}  // namespace

std::vector<bool> find_expected(const ptx::Program& program) {
    std::vector<bool> expected(program.instructions.size() + 1, false);
    for (const ptx::CodeRange function : ptx::functions_of(program)) {
        const FunctionCode code = code_of(program, function);
        std::set<int32_t> compared;  // registers that hold what a compare-and-swap compares with, or are copied there
        for (const auto& i : code)
            if (i.kind == Kind::atomic && ptx::as_atomic(i).operation == ptx::AtomicOperation::cas && !i.list_sources &&
                i.source[0] >= 0 && i.source[0] != ptx::no_operand)
                compared.insert(i.source[0]);
        if (compared.empty()) continue;
        add_copied(code, compared);
        for (const auto& i : code)
            expected[static_cast<size_t>(&i - program.instructions.data())] =
                is_whole_read(i) && compared.contains(i.destination[0]);
    }
    return expected;
}

bool is_blind_exchange(const ptx::Program& program, uint32_t pc) {
    if (pc >= program.instructions.size()) return false;
    const auto& exchange = program.instructions[pc];
    if (exchange.kind != Kind::atomic || ptx::as_atomic(exchange).operation != ptx::AtomicOperation::exch ||
        !ptx::is_register(exchange.source[0]))
        return false;
    for (const ptx::CodeRange function : ptx::functions_of(program)) {
        if (pc < function.begin || pc >= function.end) continue;
        const FunctionCode code = code_of(program, function);
        for (const auto& i : code) {
            bool reads = false;
            ptx::each_read(program.lists, i, [&](int32_t reg) { reads |= reg == exchange.destination[0]; });
            if (reads && exchange.destination[0] != ptx::no_operand) return false;
            const bool sets_constant = is_copy(i) && i.destination[0] == exchange.source[0] && i.source[0] < 0;
            if (sets_constant) return false;
        }
    }
    return true;
}

std::vector<WideLoad> find_wide(const ptx::Program& program) {
    std::vector<WideLoad> wide(program.instructions.size() + 1);
    for (const ptx::CodeRange function : ptx::functions_of(program)) {
        const FunctionCode code = code_of(program, function);
        std::set<int32_t> used;
        for (const auto& i : code) {
            used.insert({i.guard, i.address});
            if (i.kind == Kind::store || is_copy(i)) continue;
            ptx::each_read(program.lists, i, [&](int32_t reg) { used.insert(reg); });
        }
        used.erase(ptx::no_operand);
        add_copied(code, used);
        for (const auto& i : code) {
            const size_t bytes = ptx::size_of(i.type);
            if (i.kind != Kind::load || i.list_destinations || bytes * i.vector < 8 || bytes * i.vector > 32) continue;
            WideLoad& load = wide[static_cast<size_t>(&i - program.instructions.data())];
            load.element_bytes = static_cast<uint8_t>(bytes);
            for (uint32_t k = 0; k < i.vector; ++k)
                if (used.contains(i.destination[k])) load.used = static_cast<uint8_t>(load.used | 1u << k);
        }
    }
    return wide;
}

bool uses_missing(const WideLoad& load, uint32_t bytes, uint32_t missing) {
    const auto low = [](uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; };
    if (missing == 0) return false;
    if (load.element_bytes == 0 || missing == low(bytes)) return true;
    for (uint32_t k = 0; k * load.element_bytes < bytes; ++k) {
        const uint32_t element = low(load.element_bytes) << k * load.element_bytes;
        if ((missing & element) == element && (load.used >> k & 1) != 0) return true;
    }
    return false;
}

std::vector<bool> find_copied(const ptx::Program& program) {
    // Where a thread's own objects lie: objects passed to functions too, and, without optimisation, generic addresses.
    const auto keeps = [](const ptx::DecodedInstruction& i) {
        return i.kind == Kind::store &&
               (i.space == ptx::Space::local || i.space == ptx::Space::param || i.space == ptx::Space::generic);
    };
    std::vector<bool> copied(program.instructions.size() + 1, false);
    if (!program.local_bytes) return copied;
    for (const ptx::CodeRange function : ptx::functions_of(program)) {
        const FunctionCode code = code_of(program, function);
        const BitFields fields(code);
        std::set<int32_t> used, kept;  // registers that something reads; that are stored there
        for (const auto& i : code) {
            used.insert({i.guard, i.address});
            if (keeps(i)) kept.insert(std::begin(i.source), std::end(i.source));
            if (keeps(i) || is_copy(i) || fields.holds(i)) continue;
            ptx::each_read(program.lists, i, [&](int32_t reg) { used.insert(reg); });
        }
        for (std::set<int32_t>* const registers : {&used, &kept}) {
            registers->erase(ptx::no_operand);
            add_copied(code, *registers, &fields);
        }
        for (const auto& i : code) {
            const auto among = [&](const std::set<int32_t>& registers) {
                return std::any_of(std::begin(i.destination), std::end(i.destination),
                                   [&](int32_t d) { return registers.contains(d); });
            };
            copied[static_cast<size_t>(&i - program.instructions.data())] =
                i.kind == Kind::load && !i.list_destinations && among(kept) && !among(used);
        }
    }
    return copied;
}

Doubt doubt_of(CheckerState& state, AccessKind kind, uint32_t pc, AccessKind other, uint32_t other_pc) {
    if (kind == AccessKind::atomic && other == AccessKind::read) std::swap(pc, other_pc), std::swap(kind, other);
    const auto& instructions = state.grid->program->instructions;
    if (kind != AccessKind::read || other != AccessKind::atomic || pc >= instructions.size() ||
        other_pc >= instructions.size() || !is_whole_read(instructions[pc]) || instructions[other_pc].kind != Kind::atomic)
        return Doubt::race;
    if (state.expected[pc]) return Doubt::settled;
    if (is_blind_exchange(*state.grid->program, other_pc)) return Doubt::race;
    const auto [known, fresh] = state.leads.try_emplace(uint64_t{pc} << 32 | other_pc, false);
    if (fresh) known->second = leads_without_barrier(*state.grid->program, pc, other_pc);
    return known->second ? Doubt::hint : Doubt::race;
}

}  // namespace lockstep::simt
