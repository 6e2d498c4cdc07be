// How many registers a thread needs: live ranges over the basic blocks, backwards until nothing changes. ptxas allocates
// better or worse than the maximum of live values by a few; good enough for occupancy.
#include <algorithm>
#include <bit>

#include "core/ptx/decode/decode.h"

namespace lockstep::ptx {
namespace {

constexpr size_t most_words = size_t{8} << 20;  // of all live sets together: 64 MiB
constexpr size_t most_work = 200'000'000;
constexpr uint32_t reserved = 2;

struct LiveSet {
    std::vector<uint64_t> words;
    bool has(uint32_t slot) const { return words[slot >> 6] >> (slot & 63) & 1; }
    void add(uint32_t slot) { words[slot >> 6] |= uint64_t{1} << (slot & 63); }
    void remove(uint32_t slot) { words[slot >> 6] &= ~(uint64_t{1} << (slot & 63)); }
};

// A constant that nothing else writes is an operand of the instructions that use it, not a register.
bool is_constant(const DecodedInstruction& i) {
    if (i.guard != no_operand || i.registers_read != 0 || i.list_sources != 0) return false;
    if (i.kind == Kind::load) return i.space == Space::constant && i.address == no_operand;
    return i.kind == Kind::lane_wise && i.opcode != nullptr && i.opcode->name == "mov";
}

template <class EachWritten, class Number>
void free_constants(const std::vector<DecodedInstruction>& instructions, uint32_t begin, uint32_t end,
                    const EachWritten& each_written, const Number& number, std::vector<uint32_t>& width) {
    std::vector<bool> constant(width.size(), true);
    for (uint32_t pc = begin; pc < end; ++pc)
        if (!is_constant(instructions[pc]))
            each_written(instructions[pc], [&](int32_t operand) { constant[number(operand)] = false; });
    std::vector<bool> written(width.size(), false);
    for (uint32_t pc = begin; pc < end; ++pc)
        each_written(instructions[pc], [&](int32_t operand) { written[number(operand)] = true; });
    for (size_t n = 0; n < width.size(); ++n)
        if (constant[n] && written[n]) width[n] = 0;
}

}  // namespace

uint32_t count_registers(const std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists,
                         const std::vector<uint8_t>& slot_registers, uint32_t begin, uint32_t end,
                         std::vector<LiveAtCall>& live_at_calls) {
    const std::vector<BasicBlock> blocks = basic_blocks(instructions, lists, begin, end);
    const size_t first_call = live_at_calls.size();
    for (uint32_t pc = begin; pc < end; ++pc)
        if (instructions[pc].kind == Kind::call) live_at_calls.push_back({pc, 0});
    size_t next_call = live_at_calls.size();  // as the last walk meets them: backwards
    // Slots are numbered densely: a register of 64 bits takes four 64-byte steps of the register file but one number.
    std::vector<uint32_t> dense(slot_registers.size(), UINT32_MAX), width;
    const auto number = [&](int32_t operand) {
        uint32_t& n = dense[static_cast<size_t>(operand) / 64];
        if (n == UINT32_MAX) {
            n = static_cast<uint32_t>(width.size());
            width.push_back(slot_registers[static_cast<size_t>(operand) / 64]);
        }
        return n;
    };
    const auto each_written = [&](const DecodedInstruction& i, auto&& take) {
        for (int k = 0; k < i.registers_written; ++k) take(i.writes[k]);
        for (uint32_t k = 0; k < i.list_destinations; ++k) take(lists[i.list + k]);
    };
    const auto each_read = [&](const DecodedInstruction& i, auto&& take) {
        for (int k = 0; k < i.registers_read; ++k) take(i.reads[k]);
        for (uint32_t k = 0; k < i.list_sources; ++k)
            if (lists[i.list + i.list_destinations + k] >= 0) take(lists[i.list + i.list_destinations + k]);
    };
    for (uint32_t pc = begin; pc < end; ++pc) {
        each_read(instructions[pc], number);
        each_written(instructions[pc], number);
    }
    free_constants(instructions, begin, end, each_written, number, width);
    const size_t words = width.size() / 64 + 1;
    uint32_t all = 0;
    for (uint32_t w : width) all += w;
    if (words * (blocks.size() + 1) > most_words) {
        for (size_t k = first_call; k < next_call; ++k) live_at_calls[k].registers = all;
        return std::min(all + reserved, 255u);
    }

    std::vector<LiveSet> live_in(blocks.size(), LiveSet{std::vector<uint64_t>(words, 0)});
    LiveSet live{std::vector<uint64_t>(words, 0)};
    uint32_t most = 0;
    const auto walk = [&](size_t b, bool measure) {  // `live` becomes what is live at the block's begin
        std::fill(live.words.begin(), live.words.end(), 0);
        for (uint32_t s : blocks[b].successors)
            for (size_t w = 0; w < words; ++w) live.words[w] |= live_in[s].words[w];
        uint32_t now = 0;
        if (measure)
            for (size_t w = 0; w < words; ++w)
                for (uint64_t rest = live.words[w]; rest; rest &= rest - 1)
                    now += width[w * 64 + static_cast<size_t>(std::countr_zero(rest))];
        most = std::max(most, now);
        for (uint32_t pc = blocks[b].end; pc-- > blocks[b].begin;) {
            const DecodedInstruction& i = instructions[pc];
            each_written(i, [&](int32_t operand) {
                const uint32_t n = dense[static_cast<size_t>(operand) / 64];
                if (i.guard == no_operand && live.has(n)) {
                    live.remove(n);
                    now -= width[n];
                }
            });
            if (measure && i.kind == Kind::call) live_at_calls[--next_call].registers = now;
            each_read(i, [&](int32_t operand) {
                const uint32_t n = dense[static_cast<size_t>(operand) / 64];
                if (!live.has(n)) {
                    live.add(n);
                    now += width[n];
                }
            });
            if (measure) most = std::max(most, now);
        }
    };
    const size_t round_cost = words * blocks.size() + (end - begin) + 1;
    const size_t most_rounds = std::max<size_t>(8, most_work / round_cost);
    size_t rounds = 0;
    for (bool changed = true; changed && rounds < most_rounds; ++rounds) {
        changed = false;
        for (size_t b = blocks.size(); b-- > 0;) {
            walk(b, false);
            if (live.words != live_in[b].words) {
                live_in[b].words = live.words;
                changed = true;
            }
        }
    }
    for (size_t b = blocks.size(); b-- > 0;) walk(b, true);
    return std::min(most + reserved, 255u);
}

}  // namespace lockstep::ptx
