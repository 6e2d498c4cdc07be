#include "core/model/advice/persistent.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model {
namespace {

using ptx::DecodedInstruction;
using ptx::Role;

bool is_integer_add(const DecodedInstruction& i) {
    using enum ptx::Type;
    const bool integer = i.type == s32 || i.type == u32 || i.type == s64 || i.type == u64;
    return i.kind == ptx::Kind::lane_wise && i.opcode != nullptr && i.opcode->name == "add" && integer;
}

// By basic block: whether a thread may come to it again.
std::vector<bool> blocks_in_loops(const ptx::Flow& flow) {
    std::vector<bool> again(flow.blocks.size());
    for (uint32_t begin = 0; begin < flow.blocks.size(); ++begin) {
        std::vector<bool> seen(flow.blocks.size());
        std::vector<uint32_t> to_visit(flow.blocks[begin].successors);
        while (!to_visit.empty() && !again[begin]) {
            const uint32_t block = to_visit.back();
            to_visit.pop_back();
            if (block == begin) again[begin] = true;
            if (seen[block]) continue;
            seen[block] = true;
            to_visit.insert(to_visit.end(), flow.blocks[block].successors.begin(), flow.blocks[block].successors.end());
        }
    }
    return again;
}

// Whether a sum goes round a loop: what `reg` holds in front of `from` was made of what the addition at `pc` gave.
bool comes_back(const ptx::Flow& flow, uint32_t pc, uint32_t from, int32_t reg, std::set<uint32_t>& seen) {
    for (const uint32_t definition : ptx::definitions_of(flow, from, reg).pcs) {
        if (definition == pc) return true;
        if (!seen.insert(definition).second || seen.size() > 64) continue;
        const DecodedInstruction& i = flow.program.instructions[definition];
        const bool copies = i.opcode != nullptr && (i.opcode->name == "mov" || i.opcode->name == "cvt");
        if (!copies && !is_integer_add(i)) continue;
        for (const int32_t source : i.source)
            if (ptx::is_register(source) && comes_back(flow, pc, definition, source, seen)) return true;
    }
    return false;
}

bool counts_blocks(const ptx::Origins& origins, uint32_t pc, int32_t reg) {
    const auto all = origins.of(pc, reg);
    return std::any_of(all.begin(), all.end(), [](const ptx::Origin& origin) {
        return origin.from == ptx::Origin::From::special &&
               origin.index == static_cast<int32_t>(ptx::SpecialRegister::nctaid_x);
    });
}

// Whether a branch depends on what the instruction gives, also where the block hears it through shared memory.
bool decides(const ptx::Program& program, uint32_t pc) {
    std::set<int32_t> known;
    ptx::each_written(program.lists, program.instructions[pc], [&](int32_t reg) { known.insert(reg); });
    bool shared = false;
    for (size_t before = 0, round = 0; round < 16 && before != known.size() + shared; ++round) {
        before = known.size() + shared;
        for (const DecodedInstruction& i : program.instructions) {
            bool takes = false, guarded = false;
            ptx::each_use(program.lists, i, [&](const ptx::RegisterUse& use) {
                if (!known.contains(use.reg)) return;
                takes = takes || use.role == Role::source;
                guarded = guarded || use.role == Role::guard;
            });
            if (guarded && (i.kind == ptx::Kind::branch || i.kind == ptx::Kind::exit || i.kind == ptx::Kind::return_))
                return true;
            if (takes && i.kind == ptx::Kind::store && i.space == ptx::Space::shared) shared = true;
            if (i.kind == ptx::Kind::load && i.space == ptx::Space::shared) takes = takes || shared;
            if (takes) ptx::each_written(program.lists, i, [&](int32_t reg) { known.insert(reg); });
        }
    }
    return false;
}

}  // namespace

namespace {

// Additions in loops of what holds the number of blocks. Those whose sums are made of one another count one index, also
// where the loop was unrolled; pointers that were moved along with it are sums of their own.
struct Sum {
    std::set<int32_t> registers;
    std::vector<uint32_t> pcs;
    bool comes_back = false;
};

std::vector<Sum> sums_over_the_grid(const ptx::Flow& flow, const std::vector<bool>& again) {
    const ptx::Program& program = flow.program;
    const ptx::Origins origins(program);
    const auto in_loop = [&](uint32_t pc) { return pc < flow.block_of.size() && again[flow.block_of[pc]]; };
    const auto is_step = [&](uint32_t pc, int32_t reg) {
        if (!ptx::is_register(reg) || !counts_blocks(origins, pc, reg)) return false;
        const std::vector<uint32_t> made = ptx::definitions_of(flow, pc, reg).pcs;
        return std::none_of(made.begin(), made.end(),
                            [&](uint32_t at) { return in_loop(at) && is_integer_add(program.instructions[at]); });
    };
    std::vector<Sum> sums;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& i = program.instructions[pc];
        if (!is_integer_add(i) || !in_loop(pc)) continue;
        const bool second = is_step(pc, i.source[1]);
        if (!second && !is_step(pc, i.source[0])) continue;
        const int32_t before = i.source[second ? 0 : 1], behind = i.destination[0];
        if (!ptx::is_register(before)) continue;
        std::set<uint32_t> seen;
        Sum sum{{before, behind}, {pc}, comes_back(flow, pc, pc, before, seen)};
        for (size_t k = sums.size(); k-- > 0;) {
            if (!sums[k].registers.contains(before) && !sums[k].registers.contains(behind)) continue;
            sum.registers.merge(sums[k].registers);
            sum.pcs.insert(sum.pcs.begin(), sums[k].pcs.begin(), sums[k].pcs.end());
            sum.comes_back = sum.comes_back || sums[k].comes_back;
            sums.erase(sums.begin() + static_cast<ptrdiff_t>(k));
        }
        sums.push_back(std::move(sum));
    }
    std::erase_if(sums, [](const Sum& sum) { return !sum.comes_back; });
    return sums;
}

}  // namespace

std::optional<PersistentLoop> persistent_loop(const ptx::Program& program) {
    const auto may_begin = [](const DecodedInstruction& i) { return i.kind == ptx::Kind::atomic || is_integer_add(i); };
    if (std::none_of(program.instructions.begin(), program.instructions.end(), may_begin)) return {};
    const ptx::Flow flow(program);
    const std::vector<bool> again = blocks_in_loops(flow);
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& i = program.instructions[pc];
        if (i.kind != ptx::Kind::atomic || pc >= flow.block_of.size() || !again[flow.block_of[pc]]) continue;
        const ptx::AtomicOperation operation = ptx::as_atomic(i).operation;
        const bool counts = operation == ptx::AtomicOperation::add || operation == ptx::AtomicOperation::inc;
        const bool elsewhere = i.space == ptx::Space::shared || !ptx::is_register(i.destination[0]);
        if (counts && !elsewhere && decides(program, pc)) return PersistentLoop{true, {pc}};
    }
    const bool asks_for_blocks = std::any_of(program.instructions.begin(), program.instructions.end(), [](const auto& i) {
        return i.kind == ptx::Kind::special_register && ptx::as_special(i).which == ptx::SpecialRegister::nctaid_x;
    });
    if (!asks_for_blocks) return {};
    std::vector<Sum> sums = sums_over_the_grid(flow, again);
    if (sums.empty()) return {};
    const auto most =
        std::max_element(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.pcs.size() < b.pcs.size(); });
    std::sort(most->pcs.begin(), most->pcs.end());
    return PersistentLoop{false, most->pcs};
}

std::optional<uint32_t> fitting_grid(const KernelRun& run) {
    const simt::Dim3& grid = run.config.grid;
    const uint64_t places = uint64_t{run.gpu.sms} * run.result.totals.blocks_per_sm;
    const bool cut = grid.y == 1 && grid.z == 1 && simt::cluster_of(*run.program, run.config).count() == 1;
    if (!cut || places == 0 || places > INT32_MAX || !persistent_loop(*run.program)) return {};
    return static_cast<uint32_t>(places);
}

}  // namespace lockstep::model
