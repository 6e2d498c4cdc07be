// See dataflow.h: registers and memory of one instruction, definitions and live ranges. origins.cpp has the rest.
#include "core/ptx/analyse/dataflow.h"

#include <cassert>

namespace lockstep::ptx {
namespace {

constexpr size_t most_words = size_t{8} << 20;  // of all live sets of a function together: 64 MiB
constexpr size_t most_work = 200'000'000;

}  // namespace

bool reads(const Program& program, const DecodedInstruction& i, int32_t reg) {
    bool found = false;
    each_read(program.lists, i, [&](int32_t other) { found |= other == reg; });
    return found;
}

bool writes(const Program& program, const DecodedInstruction& i, int32_t reg) {
    bool found = false;
    each_written(program.lists, i, [&](int32_t other) { found |= other == reg; });
    return found;
}

bool reads_registers(const DecodedInstruction& i) {
    return is_register(i.guard) || is_register(i.address) ||
           std::any_of(std::begin(i.source), std::end(i.source), is_register);
}

int32_t only_result(const DecodedInstruction& i) {
    int32_t result = no_operand;
    for (const int32_t reg : i.destination) {
        if (!is_register(reg)) continue;
        if (result != no_operand) return no_operand;
        result = reg;
    }
    return result;
}

uint32_t words_of(const Function& function, int32_t reg) {
    const size_t slot = static_cast<size_t>(reg) / 64;
    return slot < function.lane_bytes.size() ? (function.lane_bytes[slot] + 3u) / 4 : 1;
}

Flow::Flow(const Program& of) : program(of), block_of(of.instructions.size(), 0) {
    for (const CodeRange function : functions_of(program)) {
        const auto first = static_cast<uint32_t>(blocks.size());
        for (BasicBlock& block : basic_blocks(program.instructions, program.lists, function.begin, function.end)) {
            is_entry.push_back(block.begin == function.begin);
            for (uint32_t& successor : block.successors) successor += first;
            blocks.push_back(std::move(block));
        }
    }
    predecessors.resize(blocks.size());
    for (uint32_t b = 0; b < blocks.size(); ++b) {
        for (uint32_t pc = blocks[b].begin; pc < blocks[b].end; ++pc) block_of[pc] = b;
        for (const uint32_t successor : blocks[b].successors) predecessors[successor].push_back(b);
    }
}

Definitions definitions_of(const Flow& flow, uint32_t pc, int32_t reg) {
    assert(pc < flow.block_of.size());
    Definitions found;
    std::vector<bool> seen(flow.blocks.size(), false);  // blocks that were looked at from their end on
    struct From {
        uint32_t block, end;
    };
    std::vector<From> work{{flow.block_of[pc], pc}};
    while (!work.empty()) {
        const auto [block, end] = work.back();
        work.pop_back();
        bool comes_through = true;
        for (uint32_t at = end; comes_through && at-- > flow.blocks[block].begin;) {
            const DecodedInstruction& i = flow.program.instructions[at];
            if (!writes(flow.program, i, reg)) continue;
            found.pcs.push_back(at);
            comes_through = is_conditional(i);
        }
        if (!comes_through) continue;
        found.from_entry |= flow.is_entry[block];
        for (const uint32_t before : flow.predecessors[block]) {
            if (seen[before]) continue;
            seen[before] = true;
            work.push_back({before, flow.blocks[before].end});
        }
    }
    std::sort(found.pcs.begin(), found.pcs.end());
    found.pcs.erase(std::unique(found.pcs.begin(), found.pcs.end()), found.pcs.end());
    return found;
}

Liveness::Liveness(const std::vector<DecodedInstruction>& code, const std::vector<int32_t>& lists, uint32_t begin,
                   uint32_t end)
    : code_(code), lists_(lists), blocks_(basic_blocks(code, lists, begin, end)) {
    for (uint32_t pc = begin; pc < end; ++pc)
        each_use(lists, code[pc], [&](const RegisterUse& use) {
            const size_t slot = static_cast<size_t>(use.reg) / 64;
            if (slot >= numbers_.size()) numbers_.resize(slot + 1, UINT32_MAX);
            if (numbers_[slot] != UINT32_MAX) return;
            numbers_[slot] = static_cast<uint32_t>(registers_.size());
            registers_.push_back(use.reg);
        });
    const size_t words = registers_.size() / 64 + 1;
    known_ = words * (blocks_.size() + 1) <= most_words;
    if (!known_) return;
    in_front_.assign(blocks_.size(), Set(words, 0));
    const size_t round_cost = words * blocks_.size() + (end - begin) + 1;
    const size_t most_rounds = std::max<size_t>(8, most_work / round_cost);
    bool changed = true;
    for (size_t round = 0; changed && round < most_rounds; ++round) {
        changed = false;
        for (size_t b = blocks_.size(); b-- > 0;) {
            Set live = behind(b);
            for (uint32_t pc = blocks_[b].end; pc-- > blocks_[b].begin;) {
                take_written(pc, live, [](uint32_t) {});
                add_read(pc, live, [](uint32_t) {});
            }
            changed |= live != in_front_[b];
            in_front_[b] = std::move(live);
        }
    }
    settled_ = !changed;
}

Liveness::Set Liveness::behind(size_t block) const {
    Set live(registers_.size() / 64 + 1, 0);
    for (const uint32_t successor : blocks_[block].successors)
        for (size_t w = 0; w < live.size(); ++w) live[w] |= in_front_[successor][w];
    return live;
}

std::vector<int32_t> Liveness::before(uint32_t pc) const {
    const auto block =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const BasicBlock& b) { return b.begin <= pc && pc < b.end; });
    assert(known_ && block != blocks_.end());
    Set live = behind(static_cast<size_t>(block - blocks_.begin()));
    for (uint32_t at = block->end; at-- > pc;) {
        take_written(at, live, [](uint32_t) {});
        add_read(at, live, [](uint32_t) {});
    }
    std::vector<int32_t> registers;
    for (uint32_t n = 0; n < registers_.size(); ++n)
        if (has(live, n)) registers.push_back(registers_[n]);
    std::sort(registers.begin(), registers.end());
    return registers;
}

}  // namespace lockstep::ptx
