// wgmma under racecheck. Its products are under way from wgmma.mma_async until wgmma.wait_group says that they have ended:
// up to there nobody may write the shared memory that they read, nor touch their registers.
//
// Shared memory is watched as it is written: a block remembers the pieces of 16 bytes that products under way read.
// Registers are found in the program, for which the executor's loop would have no time: along every path from a product to
// the waits behind it. Copies of a register by mov are under way as it is, and products that add to the same registers need
// no wait.
#include <algorithm>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;

constexpr uint32_t piece_bytes = 16;
constexpr size_t most_groups = 64;      // of a warp; older ones become one
constexpr uint8_t most_age = 200;       // groups closed behind a product, as far as they are counted
constexpr size_t most_facts = 1 << 22;  // instructions times registers: larger kernels are not looked at

bool is_product(const ptx::DecodedInstruction& i) {
    return i.kind == Kind::matrix_group;
}

// What is under way at an instruction: of each register of products 0, or 1 + the groups closed since; as a result, then
// again as a part of A.
using Ages = std::vector<uint8_t>;

struct Search {
    const ptx::Program& program;
    std::vector<int32_t> registers;  // of products and their copies, ascending
    std::vector<Ages> before;        // by pc
    std::vector<GroupHazard> found;

    size_t index_of(int32_t offset) const {
        const auto at = std::lower_bound(registers.begin(), registers.end(), offset);
        return at != registers.end() && *at == offset ? static_cast<size_t>(at - registers.begin()) : registers.size();
    }
    bool is_copy(const ptx::DecodedInstruction& i) const {
        return ptx::facts_of(i).does == ptx::Does::copy && i.kind == Kind::lane_wise;
    }

    void collect() {
        for (const auto& i : program.instructions) {
            if (!is_product(i)) continue;
            const size_t inputs = ptx::as_group(i).a_in_registers ? 4 : 0;
            for (size_t k = 0; k < i.list_destinations + inputs; ++k)
                if (program.lists[i.list + k] >= 0) registers.push_back(program.lists[i.list + k]);
        }
        for (bool more = true; more;) {  // copies of copies
            std::sort(registers.begin(), registers.end());
            registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
            more = false;
            const size_t count = registers.size();
            for (const auto& i : program.instructions)
                if (is_copy(i) &&
                    std::binary_search(registers.begin(), registers.begin() + static_cast<std::ptrdiff_t>(count),
                                       i.source[0]) &&
                    i.destination[0] >= 0 &&
                    !std::binary_search(registers.begin(), registers.begin() + static_cast<std::ptrdiff_t>(count),
                                        i.destination[0])) {
                    registers.push_back(i.destination[0]);
                    more = true;
                }
        }
    }

    // The ages behind `pc`; tells of registers that are touched while they are under way. First those of results, which
    // nobody may touch, then those of A, which nobody may write.
    Ages pass(uint32_t pc, Ages ages, bool tell) {
        const auto& i = program.instructions[pc];
        const size_t count = registers.size();
        const auto touch = [&](int32_t offset, bool writes) {
            const size_t at = index_of(offset);
            if (!tell || at == count || (!ages[at] && !(writes && ages[count + at]))) return;
            if (found.empty() || found.back().pc != pc) found.push_back({pc, offset});
        };
        if (is_product(i)) {
            const size_t results = i.list_destinations, inputs = ptx::as_group(i).a_in_registers ? 4 : 0;
            for (size_t k = results; k < results + inputs; ++k) touch(program.lists[i.list + k], false);
            for (size_t k = 0; k < results; ++k) ages[index_of(program.lists[i.list + k])] = 1;
            for (size_t k = results; k < results + inputs; ++k)
                if (program.lists[i.list + k] >= 0) ages[count + index_of(program.lists[i.list + k])] = 1;
            return ages;
        }
        const auto [order, pending] = ptx::as_group_order(i);
        if (order == GroupOrder::commit)
            for (uint8_t& age : ages)
                if (age && age < most_age) ++age;
        if (order == GroupOrder::wait)
            for (uint8_t& age : ages)
                if (age > 1 && static_cast<int64_t>(age) - 2 >= pending) age = 0;
        if (order != GroupOrder::none) return ages;
        if (is_copy(i)) {
            const size_t from = index_of(i.source[0]), to = index_of(i.destination[0]);
            if (to < count) {
                const uint8_t age = from < count ? ages[from] : 0;
                if (age == 0 || ages[count + to]) touch(i.destination[0], true);
                ages[to] = age;
            }
            return ages;
        }
        ptx::each_use(program.lists, i,
                      [&](const ptx::RegisterUse& use) { touch(use.reg, use.role == ptx::Role::destination); });
        return ages;
    }

    void run() {
        collect();
        const size_t count = program.instructions.size();
        if (registers.empty() || count * registers.size() > most_facts) return;
        before.resize(count);
        std::vector<uint32_t> work;
        for (uint32_t pc = 0; pc < count; ++pc)
            if (is_product(program.instructions[pc])) {
                before[pc].resize(2 * registers.size());
                work.push_back(pc);
            }
        while (!work.empty()) {
            const uint32_t pc = work.back();
            work.pop_back();
            const Ages after = pass(pc, before[pc], false);
            if (std::all_of(after.begin(), after.end(), [](uint8_t age) { return age == 0; })) continue;
            for (const uint32_t next : followers(pc)) {
                Ages& there = before[next];
                bool changed = there.empty();
                there.resize(2 * registers.size());
                for (size_t k = 0; k < after.size(); ++k)
                    if (after[k] && (!there[k] || after[k] < there[k])) {
                        there[k] = after[k];
                        changed = true;
                    }
                if (changed) work.push_back(next);
            }
        }
        for (uint32_t pc = 0; pc < count; ++pc)
            if (!before[pc].empty()) pass(pc, before[pc], true);
    }

    std::vector<uint32_t> followers(uint32_t pc) const {
        std::vector<uint32_t> next;
        ptx::each_successor(program, pc, [&](uint32_t to) {
            if (to < program.instructions.size()) next.push_back(to);
        });
        return next;
    }
};

std::string register_name(const ptx::Program& program, int32_t offset) {
    for (const ptx::Register& r : program.registers)
        if (r.offset == offset) return r.name;
    return "a register";
}

}  // namespace

std::vector<GroupHazard> find_group_hazards(const ptx::Program& program) {
    Search search{program, {}, {}, {}};
    search.run();
    return std::move(search.found);
}

void note_group_read(const Warp& warp, uint32_t pc, const uint64_t* addresses, uint32_t count) {
    if (!warp.block->grid->checker) return;
    CheckerState& state = *warp.block->grid->checker->state;
    if (state.off || !state.race) return;
    BlockChecks& block = checks_of(state, *warp.block);
    auto& groups = block.groups;
    const uint32_t closed = warp.index < block.groups_closed.size() ? block.groups_closed[warp.index] : 0;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const GroupReads& g) { return g.warp == warp.index && g.group == closed && g.pc == pc; });
    if (group == groups.end()) {
        if (groups.size() >= most_groups * warp.block->warps.size()) return;
        groups.push_back({warp.index, closed, pc, std::vector<bool>(warp.block->shared.size() / piece_bytes + 1)});
        group = groups.end() - 1;
        block.alone = false;
    }
    for (uint32_t k = 0; k < count; ++k)
        if (addresses[k] < warp.block->shared.size()) group->pieces[addresses[k] / piece_bytes] = true;
}

void note_group_order(const Warp& warp, GroupOrder order, int64_t pending) {
    if (!warp.block->grid->checker) return;
    CheckerState& state = *warp.block->grid->checker->state;
    if (state.off || !state.race) return;
    BlockChecks& block = checks_of(state, *warp.block);
    block.groups_closed.resize(warp.block->warps.size());
    uint32_t& closed = block.groups_closed[warp.index];
    if (order == GroupOrder::commit) ++closed;
    if (order != GroupOrder::wait) return;
    std::erase_if(block.groups, [&](const GroupReads& g) {
        return g.warp == warp.index && g.group < closed && int64_t{closed} - g.group > pending;
    });
    block.alone = block.groups.empty() && warp.block->cluster.size() < 2;
}

void check_group_reads(CheckerState& state, BlockChecks& owner, const Warp& warp, uint32_t pc, uint32_t lane,
                       uint64_t address, uint32_t bytes) {
    for (const GroupReads& g : owner.groups)
        for (uint64_t at = address / piece_bytes; at <= (address + bytes - 1) / piece_bytes; ++at)
            if (at < g.pieces.size() && g.pieces[at])
                return report_under_way(state, warp, pc, lane, g, {ptx::Space::shared, address, bytes}, owner.linear);
}

void check_group_registers(const Warp& warp, uint32_t pc) {
    if (!warp.block->grid->checker) return;
    CheckerState& state = *warp.block->grid->checker->state;
    if (state.off || !state.race) return;
    checks_of(state, *warp.block);  // makes state.hazards
    const ptx::Program& program = *warp.block->grid->program;
    for (const GroupHazard& hazard : state.hazards)
        report_touched(state, warp, hazard.pc, register_name(program, hazard.offset), pc);
    state.hazards.clear();
}

}  // namespace lockstep::simt
