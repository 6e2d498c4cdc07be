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

// A sum that goes round a loop: how many additions there are on its way from `pc` back to it, over `reg`. 0: it comes from
// elsewhere.
uint32_t additions_to(const ptx::Flow& flow, uint32_t pc, uint32_t from, int32_t reg, std::set<uint32_t>& seen) {
    for (const uint32_t definition : ptx::definitions_of(flow, from, reg).pcs) {
        if (definition == pc) return 1;
        if (!seen.insert(definition).second || seen.size() > 64) continue;
        const DecodedInstruction& i = flow.program.instructions[definition];
        const bool copies = i.opcode != nullptr && (i.opcode->name == "mov" || i.opcode->name == "cvt");
        if (!copies && !is_integer_add(i)) continue;
        for (const int32_t source : i.source)
            if (ptx::is_register(source))
                if (const uint32_t more = additions_to(flow, pc, definition, source, seen); more > 0)
                    return more + (copies ? 0 : 1);
    }
    return 0;
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

std::optional<PersistentLoop> persistent_loop(const ptx::Program& program) {
    const auto may_begin = [](const DecodedInstruction& i) { return i.kind == ptx::Kind::atomic || is_integer_add(i); };
    if (std::none_of(program.instructions.begin(), program.instructions.end(), may_begin)) return {};
    const ptx::Flow flow(program);
    const std::vector<bool> again = blocks_in_loops(flow);
    std::optional<ptx::Origins> origins;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& i = program.instructions[pc];
        if (!may_begin(i) || pc >= flow.block_of.size() || !again[flow.block_of[pc]]) continue;
        if (i.kind == ptx::Kind::atomic) {
            const ptx::AtomicOperation operation = ptx::as_atomic(i).operation;
            const bool counts = operation == ptx::AtomicOperation::add || operation == ptx::AtomicOperation::inc;
            const bool elsewhere = i.space == ptx::Space::shared || !ptx::is_register(i.destination[0]);
            if (counts && !elsewhere && decides(program, pc)) return PersistentLoop{true, pc, 1};
            continue;
        }
        if (!origins) origins.emplace(program);
        for (size_t k = 0; k < 2; ++k) {
            const int32_t step = i.source[k], sum = i.source[1 - k];
            if (!ptx::is_register(step) || !ptx::is_register(sum) || !counts_blocks(*origins, pc, step)) continue;
            std::set<uint32_t> none, seen;
            if (additions_to(flow, pc, pc, step, none) > 0) continue;  // that one is the sum
            if (const uint32_t steps = additions_to(flow, pc, pc, sum, seen); steps > 0)
                return PersistentLoop{false, pc, steps};
        }
    }
    return {};
}

std::optional<uint32_t> fitting_grid(const KernelRun& run) {
    const simt::Dim3& grid = run.config.grid;
    const uint64_t places = uint64_t{run.gpu.sms} * run.result.totals.blocks_per_sm;
    const bool cut = grid.y == 1 && grid.z == 1 && simt::cluster_of(*run.program, run.config).count() == 1;
    if (!cut || places == 0 || places > INT32_MAX || !persistent_loop(*run.program)) return {};
    return static_cast<uint32_t>(places);
}

}  // namespace lockstep::model
