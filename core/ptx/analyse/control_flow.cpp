// Basic blocks and immediate post-dominators (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the
// reversed graph). No recursion: the text may come from anybody.
#include "core/ptx/analyse/control_flow.h"

#include <algorithm>
#include <cassert>

namespace lockstep::ptx {
namespace {

constexpr size_t most_steps = 100'000'000;  // a real kernel takes a few for each block

bool ends_block(const DecodedInstruction& i) {
    return leaves(i) && (i.guard == no_operand || i.kind == Kind::branch || i.kind == Kind::branch_table);
}

}  // namespace

std::vector<BasicBlock> basic_blocks(const std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists,
                                     uint32_t begin, uint32_t end) {
    const auto each_inside = [&](const DecodedInstruction& i, auto&& take) {
        each_target(lists, i, [&](uint32_t target) {
            if (target >= begin && target < end) take(target);
        });
    };
    assert(begin <= end && end <= instructions.size());
    std::vector<bool> starts(end - begin + 1, false);  // here and below by distance from `begin`
    starts[0] = true;
    for (uint32_t pc = begin; pc < end; ++pc) {
        if (ends_block(instructions[pc])) starts[pc + 1 - begin] = true;
        each_inside(instructions[pc], [&](uint32_t target) { starts[target - begin] = true; });
    }
    std::vector<uint32_t> block_at(end - begin + 1, 0);
    std::vector<BasicBlock> blocks;
    for (uint32_t pc = begin; pc < end; ++pc) {
        if (starts[pc - begin]) blocks.push_back({pc, pc, {}});
        block_at[pc - begin] = static_cast<uint32_t>(blocks.size()) - 1;
        blocks.back().end = pc + 1;
    }
    for (BasicBlock& block : blocks) {
        const DecodedInstruction& last = instructions[block.end - 1];
        const bool falls = !ends_block(last) || last.guard != no_operand;
        each_inside(last, [&](uint32_t target) { block.successors.push_back(block_at[target - begin]); });
        if (falls && block.end < end) block.successors.push_back(block_at[block.end - begin]);
        if (block.successors.size() < 3) continue;
        std::sort(block.successors.begin(), block.successors.end());
        block.successors.erase(std::unique(block.successors.begin(), block.successors.end()), block.successors.end());
    }
    return blocks;
}

void find_reconvergence(std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists, uint32_t begin,
                        uint32_t end) {
    const std::vector<BasicBlock> blocks = basic_blocks(instructions, lists, begin, end);
    const uint32_t exit = static_cast<uint32_t>(blocks.size());  // a block after all that all ends lead to
    constexpr uint32_t none = UINT32_MAX;
    std::vector<std::vector<uint32_t>> predecessors(exit + 1);
    for (uint32_t b = 0; b < exit; ++b)
        for (uint32_t s : blocks[b].successors) predecessors[s].push_back(b);
    // A loop that nothing leaves counts as left from its last block, so that its own paths still meet. Where one side of a
    // branch goes into it for good, the others meet without that side.
    std::vector<bool> leads_out(exit + 1, false), ends(exit + 1, false);
    const auto mark = [&](uint32_t block) {
        ends[block] = leads_out[block] = true;
        predecessors[exit].push_back(block);
        for (std::vector<uint32_t> work{block}; !work.empty();) {
            const uint32_t b = work.back();
            work.pop_back();
            for (uint32_t p : predecessors[b])
                if (!leads_out[p]) {
                    leads_out[p] = true;
                    work.push_back(p);
                }
        }
    };
    for (uint32_t b = 0; b < exit; ++b)
        if (blocks[b].successors.empty()) mark(b);
    const std::vector<bool> really_leads_out = leads_out;
    for (uint32_t b = exit; b-- > 0;)
        if (!leads_out[b]) mark(b);
    // Order of the reversed graph from the exit, by depth first; a block's number is when it is left.
    std::vector<uint32_t> number(exit + 1, none), order, next(exit + 1, 0), path{exit};
    std::vector<bool> seen(exit + 1, false);
    seen[exit] = true;
    while (!path.empty()) {
        const uint32_t b = path.back();
        if (next[b] < predecessors[b].size()) {
            const uint32_t p = predecessors[b][next[b]++];
            if (!seen[p]) {
                seen[p] = true;
                path.push_back(p);
            }
        } else {
            number[b] = static_cast<uint32_t>(order.size());
            order.push_back(b);
            path.pop_back();
        }
    }
    std::vector<uint32_t> parent(exit + 1, none);
    parent[exit] = exit;
    size_t steps = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const uint32_t b = *it;
            if (b == exit) continue;
            uint32_t meet = ends[b] ? exit : none;
            for (uint32_t s : blocks[b].successors) {
                if (parent[s] == none || (really_leads_out[b] && !really_leads_out[s])) continue;
                if (meet == none) meet = s;
                for (uint32_t other = s; meet != other;) {
                    while (number[other] < number[meet]) other = parent[other], ++steps;
                    while (number[meet] < number[other]) meet = parent[meet], ++steps;
                }
                if (steps > most_steps) return;
            }
            if (parent[b] != meet) {
                parent[b] = meet;
                changed = true;
            }
        }
    }
    for (uint32_t b = 0; b < exit; ++b) {
        DecodedInstruction& last = instructions[blocks[b].end - 1];
        if ((last.kind == Kind::branch || last.kind == Kind::branch_table) && parent[b] != none && parent[b] != exit)
            last.reconvergence = blocks[parent[b]].begin;
    }
}

std::vector<CodeRange> functions_of(const Program& program) {
    const auto count = static_cast<uint32_t>(program.instructions.size());
    if (program.functions.empty()) return {{0, count}};
    std::vector<CodeRange> ranges;
    for (const Function& f : program.functions)
        if (f.begin <= f.end && f.end <= count) ranges.push_back({f.begin, f.end});
    return ranges;
}

}  // namespace lockstep::ptx
