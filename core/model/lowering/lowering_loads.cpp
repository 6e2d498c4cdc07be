// What is known of the alignment of addresses, and the loads of shared memory that become one for it.
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <map>
#include <unordered_set>

#include "core/model/lowering/lowering_pass.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model::lowering {

uint32_t Pass::zeros(int32_t operand) const {
    if (operand == no_operand) return 0;
    if (operand >= 0) {
        const auto found = zero_bits.find(operand);
        return found == zero_bits.end() ? unknown_bits : found->second;
    }
    const auto at = static_cast<size_t>(~operand);
    if (at + 4 > program.constants.size()) return 0;
    uint32_t value = 0;
    std::memcpy(&value, program.constants.data() + at, 4);
    return static_cast<uint32_t>(std::countr_zero(value));
}

uint32_t Pass::zeros_of(const DecodedInstruction& in) const {
    if (in.kind != Kind::lane_wise || (!is_integer(in.type, 4) && !is_integer(in.type, 8))) return 0;
    const uint32_t a = zeros(in.source[0]), b = zeros(in.source[1]);
    switch (ptx::facts_of(in).does) {
        case Does::copy:
        case Does::address:
        case Does::convert:
            return a;
        case Does::sum:
        case Does::difference:
        case Does::or_:
        case Does::xor_:
            return std::min(a, b);
        case Does::and_:
            return std::max(a, b);
        case Does::product:
            return std::min(unknown_bits, a + b);
        case Does::multiply_add:
            return std::min(std::min(unknown_bits, a + b), zeros(in.source[2]));
        case Does::shift_left: {
            if (in.source[1] >= 0) return 0;
            const auto at = static_cast<size_t>(~in.source[1]);
            uint32_t by = 0;
            if (at + 4 <= program.constants.size()) std::memcpy(&by, program.constants.data() + at, 4);
            return std::min(unknown_bits, a + std::min(by, unknown_bits));
        }
        default:
            return 0;
    }
}

// From "all zeros" down, until nothing changes.
void Pass::find_zero_bits() {
    constexpr int most_rounds = 100;
    bool changed = true;
    for (int round = 0; changed; ++round) {
        if (round == most_rounds) {  // a program made to take long: nothing is known
            for (auto& [reg, bits] : zero_bits) bits = 0;
            return;
        }
        changed = false;
        for (const DecodedInstruction& in : code) {
            const uint32_t bits = zeros_of(in);
            each_write(in, [&](int32_t r) {
                const auto [entry, fresh] = zero_bits.try_emplace(r, unknown_bits);
                if (bits < entry->second) {
                    entry->second = bits;
                    changed = true;
                }
            });
        }
    }
}

// Loads of neighbouring words of shared memory become one where the address is known to be aligned: a thread's row of a
// tile.
void Pass::merge_loads(uint32_t begin, uint32_t end) {
    struct Group {
        std::array<uint32_t, 4> word = {none, none, none, none};
        uint32_t first = none;
    };
    std::map<std::pair<int32_t, int64_t>, Group> groups;  // by base register and aligned offset
    std::unordered_set<int32_t> bases;
    const auto close = [&] {
        for (auto& [key, group] : groups) {
            uint32_t words = 0;
            for (const uint32_t pc : group.word) words += pc != none ? 1 : 0;
            const bool low = group.word[0] != none && group.word[1] != none;
            const bool high = group.word[2] != none && group.word[3] != none;
            const auto join = [&, &word = group.word](uint32_t from, uint32_t to, uint8_t bytes) {
                uint32_t first = none;
                for (uint32_t k = from; k < to; ++k) first = std::min(first, word[k]);
                for (uint32_t k = from; k < to; ++k)
                    if (const uint32_t pc = word[k]; pc != none && pc != first) {
                        out[pc].instructions = 0;
                        out[pc].merged_with = first;
                    }
                assert(first != none);
                out[first].wide_bytes = bytes;
            };
            const uint32_t bits = zeros(key.first);
            if (words >= 3 && bits >= 4) {
                join(0, 4, 16);
            } else {
                if (low && bits >= 3) join(0, 2, 8);
                if (high && bits >= 3) join(2, 4, 8);
            }
        }
        groups.clear();
        bases.clear();
    };
    for (uint32_t pc = begin; pc < end; ++pc) {
        const DecodedInstruction& in = code[pc];
        const bool lanes =
            in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many || in.kind == Kind::special_register;
        if (ptx::is_weak_load(in) && in.space == Space::shared) {
            if (in.vector == 1 && in.guard == no_operand && in.address >= 0 && size_of(in.type) == 4 && in.offset >= 0 &&
                in.offset % 4 == 0) {
                bases.insert(in.address);
                Group& group = groups[{in.address, in.offset / 16}];
                uint32_t& place = group.word[static_cast<size_t>(in.offset / 4 % 4)];
                if (place == none) place = pc;  // a second load of the same word stays one of its own
            }
        } else if (!lanes && !ptx::is_weak_load(in)) {
            close();  // stores, barriers and the like
        }
        each_write(in, [&](int32_t r) {
            if (bases.contains(r)) close();
        });
    }
    close();
}

}  // namespace lockstep::model::lowering
