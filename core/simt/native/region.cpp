#include "core/simt/native/region.h"

#include <algorithm>

namespace lockstep::simt {
namespace {

constexpr uint32_t most_instructions = 640, most_blocks = 64;

// Where a way may come to from elsewhere, or meet others.
std::vector<bool> leaders_of(const ptx::Program& program) {
    std::vector<bool> leader(program.instructions.size() + 1, false);
    for (const ptx::DecodedInstruction& i : program.instructions) {
        ptx::each_target(program.lists, i, [&](uint32_t target) {
            if (target < leader.size()) leader[target] = true;
        });
        if (i.reconvergence < leader.size()) leader[i.reconvergence] = true;
    }
    return leader;
}

}  // namespace

bool can_translate(const Plan& plan, uint32_t pc) {
    const Prepared& p = plan.steps[pc];
    switch (p.code) {
        case Code::lane_wise:
        case Code::lane_wise_many:
        case Code::special_register:
        case Code::load_global:
        case Code::load_shared:
        case Code::load_param:
        case Code::load_any:
        case Code::store_global:
        case Code::store_shared:
        case Code::store_any:
        case Code::nop:
            return true;
        case Code::branch:
            return p.target != pc + 1;
        default:
            return false;
    }
}

Region region_of(const Native& native, const Plan& plan, uint32_t entry) {
    const ptx::Program& program = native.program;
    const std::vector<bool> leader = leaders_of(program);
    const auto count = static_cast<uint32_t>(program.instructions.size());
    Region region;
    std::vector<uint32_t> work{entry};
    while (!work.empty() && region.blocks.size() < most_blocks && region.instructions < most_instructions) {
        const uint32_t begin = work.back();
        work.pop_back();
        if (region.block_at.count(begin) != 0) continue;
        RegionBlock block{.begin = begin, .end = begin};
        while (block.end < count && can_translate(plan, block.end) && !block.branches &&
               (block.end == begin || !leader[block.end]) && block.end - begin < most_instructions) {
            block.branches = plan.steps[block.end].code == Code::branch;
            ++block.end;
        }
        if (block.end == begin) continue;
        const Prepared& last = plan.steps[block.end - 1];
        if (!block.branches || last.guard != ptx::no_operand) work.push_back(block.end);
        if (block.branches) work.push_back(last.target);
        region.instructions += block.end - begin;
        region.block_at.emplace(begin, region.blocks.size());
        region.blocks.push_back(std::move(block));
    }
    for (const RegionBlock& block : region.blocks)
        for (uint32_t pc = block.begin; pc < block.end; ++pc)
            ptx::each_use(program.lists, program.instructions[pc], [&](const ptx::RegisterUse& use) {
                region.registers.insert(use.reg);
                if (use.role == ptx::Role::destination) region.written.insert(use.reg);
            });
    for (bool changed = true; changed;) {
        changed = false;
        for (const RegionBlock& block : region.blocks) {
            std::set<int32_t> behind = block.written_before;
            for (uint32_t pc = block.begin; pc < block.end; ++pc)
                ptx::each_written(program.lists, program.instructions[pc], [&](int32_t reg) { behind.insert(reg); });
            const auto lead_to = [&](uint32_t pc) {
                const auto at = region.block_at.find(pc);
                if (at == region.block_at.end()) return;
                std::set<int32_t>& there = region.blocks[at->second].written_before;
                const size_t before = there.size();
                there.insert(behind.begin(), behind.end());
                changed |= there.size() != before;
            };
            const Prepared& last = plan.steps[block.end - 1];
            if (!block.branches || last.guard != ptx::no_operand) lead_to(block.end);
            if (block.branches) lead_to(last.target);
        }
    }
    return region;
}

}  // namespace lockstep::simt
