// Uses and definitions are counted over the whole program; what is folded is folded into a user in the same basic block,
// behind it, with none of its sources written in between.
#include "core/model/lowering.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/ptx/decode.h"

namespace lockstep::model {
namespace {

using ptx::DecodedInstruction;
using ptx::Kind;
using ptx::no_operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t none = UINT32_MAX;
constexpr uint32_t most_early = 48;  // loads ahead of their uses cost registers: 40 machine instructions are usual
constexpr uint32_t most_words = 32;  // that loads from global memory moved to one place bring a lane
constexpr uint32_t most_passes =
    32;  // over instructions: an untrusted program may order them badly; what is not known by then is not used
constexpr uint32_t unrolled = 4, most_unrolled = 28;  // rounds, and machine instructions of a loop that is
constexpr uint32_t arithmetic_cycles = 4;             // in which a warp by itself issues as many instructions
constexpr uint32_t most_distance = 256;               // between what is folded and its user
constexpr uint32_t unknown_bits = 32;                 // trailing zeros of a register that nobody has written yet

bool is_integer(Type type, size_t bytes) {
    switch (type) {
        case Type::b32:
        case Type::u32:
        case Type::s32:
            return bytes == 4;
        case Type::b64:
        case Type::u64:
        case Type::s64:
            return bytes == 8;
        default:
            return false;
    }
}

struct Pass {
    const ptx::Program& program;
    const std::vector<DecodedInstruction>& code;
    std::vector<Lowered>& out;
    std::vector<uint32_t> block_end;                  // of each instruction's basic block
    std::unordered_map<int32_t, uint32_t> uses;       // of a register: reads in the program
    std::unordered_map<int32_t, uint32_t> writes;     // and writes
    std::unordered_map<int32_t, uint32_t> zero_bits;  // trailing zeros of each value it ever has
    std::vector<bool> took;                           // has taken another instruction in already

    std::string_view name(uint32_t pc) const { return code[pc].opcode == nullptr ? "" : code[pc].opcode->name; }
    bool plain(uint32_t pc) const { return code[pc].kind == Kind::lane_wise && code[pc].guard == no_operand; }
    void fold(uint32_t pc) { out[pc].instructions = 0; }

    template <class F>
    void each_read(const DecodedInstruction& in, F&& see) const {
        for (uint32_t k = 0; k < std::min<uint32_t>(8, in.registers_read); ++k) see(in.reads[k]);
        for (uint32_t k = 0; k < in.list_sources; ++k)
            if (const int32_t operand = program.lists[in.list + in.list_destinations + k]; operand >= 0) see(operand);
    }
    template <class F>
    void each_write(const DecodedInstruction& in, F&& see) const {
        for (uint32_t k = 0; k < std::min<uint32_t>(4, in.registers_written); ++k) see(in.writes[k]);
        for (uint32_t k = 0; k < in.list_destinations; ++k)
            if (const int32_t operand = program.lists[in.list + k]; operand >= 0) see(operand);
    }
    bool reads(uint32_t pc, int32_t reg) const {
        bool found = false;
        each_read(code[pc], [&](int32_t r) { found |= r == reg; });
        return found;
    }
    bool writes_to(uint32_t pc, int32_t reg) const {
        bool found = false;
        each_write(code[pc], [&](int32_t r) { found |= r == reg; });
        return found;
    }

    // The only user of the result of `pc`, behind it in the same basic block, with the sources of `pc` still as they were.
    uint32_t only_user(uint32_t pc) const {
        const DecodedInstruction& in = code[pc];
        if (in.registers_written != 1) return none;
        const int32_t result = in.writes[0];
        const auto used = uses.find(result), written = writes.find(result);
        if (used == uses.end() || used->second != 1 || written->second != 1) return none;
        for (uint32_t at = pc + 1; at < std::min(block_end[pc], pc + most_distance); ++at) {
            if (reads(at, result)) return at;
            bool changed = false;
            each_write(code[at], [&](int32_t r) { changed |= reads(pc, r); });
            if (changed) return none;
        }
        return none;
    }

    void count();
    void find_zero_bits();
    uint32_t zeros_of(const DecodedInstruction& in) const;
    uint32_t zeros(int32_t operand) const;

    void moves(uint32_t pc);
    void addresses(uint32_t pc);
    void pairs(uint32_t pc);
    void predicates(uint32_t pc);
    void wide(uint32_t pc);
    void merge_loads(uint32_t begin, uint32_t end);
    void hoist_loads(uint32_t begin, uint32_t end);
    uint32_t last_shared_load(uint32_t begin, uint32_t end) const;
    void unroll(uint32_t begin, uint32_t end, uint32_t mark, uint32_t words);
    bool depends_on_loads(uint32_t begin, uint32_t end) const;
    void find_uniform();
    uint32_t words_at_once() const;
};

void Pass::count() {
    for (const DecodedInstruction& in : code) {
        each_read(in, [&](int32_t r) { ++uses[r]; });
        each_write(in, [&](int32_t r) { ++writes[r]; });
    }
}

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
    if (in.kind != Kind::lane_wise || in.opcode == nullptr) return 0;
    if (!is_integer(in.type, 4) && !is_integer(in.type, 8)) return 0;
    const std::string_view op = in.opcode->name;
    const uint32_t a = zeros(in.source[0]), b = zeros(in.source[1]);
    if (op == "mov" || op == "cvta") return a;
    if (op == "cvt") return a;
    if (op == "add" || op == "sub" || op == "or" || op == "xor") return std::min(a, b);
    if (op == "and") return std::max(a, b);
    if (op == "mul") return std::min(unknown_bits, a + b);
    if (op == "mad") return std::min(std::min(unknown_bits, a + b), zeros(in.source[2]));
    if (op == "shl" && in.source[1] < 0) {
        const auto at = static_cast<size_t>(~in.source[1]);
        uint32_t by = 0;
        if (at + 4 <= program.constants.size()) std::memcpy(&by, program.constants.data() + at, 4);
        return std::min(unknown_bits, a + std::min(by, unknown_bits));
    }
    return 0;
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

// Parameters and what the launch fixes are operands in constant memory; copies go when registers are allocated; addresses of
// global memory are generic ones already.
void Pass::moves(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (in.kind == Kind::load && in.space == Space::param && in.address == no_operand && in.guard == no_operand) {
        fold(pc);
        return;
    }
    if (in.kind == Kind::special_register) {
        using ptx::SpecialRegister;
        switch (static_cast<SpecialRegister>(in.mode)) {
            case SpecialRegister::ntid_x:
            case SpecialRegister::ntid_y:
            case SpecialRegister::ntid_z:
            case SpecialRegister::nctaid_x:
            case SpecialRegister::nctaid_y:
            case SpecialRegister::nctaid_z:
            case SpecialRegister::variable_address:
                fold(pc);
                return;
            default:
                return;
        }
    }
    const bool lanes = in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many;
    if (!lanes || in.guard != no_operand) return;
    const std::string_view op = name(pc);
    if (op == "mov" || op == "cvta") fold(pc);
    if (op == "cvt" && is_integer(in.type, 4) && is_integer(in.destination_type, 8)) fold(pc);
    if (op == "cvt" && is_integer(in.type, 8) && is_integer(in.destination_type, 4)) fold(pc);
    if (op == "not" && in.type == Type::pred) fold(pc);
    if ((op == "neg" || op == "abs") && (in.type == Type::f32 || in.type == Type::f64)) fold(pc);
}

// [register + constant] is an operand of every access.
void Pass::addresses(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (!plain(pc) || name(pc) != "add" || out[pc].instructions == 0) return;
    if (in.source[0] < 0 || in.source[1] >= 0 || in.source[1] == no_operand || in.registers_written != 1) return;
    const int32_t result = in.writes[0], from = in.source[0];
    if (result == from || writes[result] != 1) return;
    uint32_t left = uses[result];
    if (left == 0) return;
    for (uint32_t at = pc + 1; at < std::min(block_end[pc], pc + most_distance) && left != 0; ++at) {
        if (reads(at, result)) {
            const DecodedInstruction& user = code[at];
            const bool access = user.kind == Kind::load || user.kind == Kind::store || user.kind == Kind::atomic;
            if (!access || user.address != result) return;
            for (const int32_t value : user.source)
                if (value == result) return;
            --left;
        }
        if (left != 0 && writes_to(at, from)) return;
    }
    if (left == 0) fold(pc);
}

// IMAD.WIDE, LEA, IADD3, LOP3: one instruction where PTX has two.
void Pass::pairs(uint32_t pc) {
    if (!plain(pc) || out[pc].instructions == 0 || took[pc]) return;
    const DecodedInstruction& in = code[pc];
    const std::string_view op = name(pc);
    const auto logic = [](std::string_view n) { return n == "and" || n == "or" || n == "xor" || n == "not"; };
    const bool wide_product = op == "mul" && is_integer(in.type, 4) && in.destination_type != in.type;
    const bool product = op == "mul" && is_integer(in.type, 4);
    const bool shift = op == "shl" && in.source[1] < 0;
    if (!product && !wide_product && !shift && !logic(op) && op != "add" && op != "sub") return;
    if (in.type == Type::pred) return;
    const uint32_t user = only_user(pc);
    if (user == none || !plain(user) || out[user].instructions == 0 || took[user]) return;
    const std::string_view into = name(user);
    const DecodedInstruction& taker = code[user];
    const bool adds32 = into == "add" && is_integer(taker.type, 4), adds64 = into == "add" && is_integer(taker.type, 8);
    if ((wide_product || product) && (adds64 || adds32)) {
        out[user].wide_add = true;
    } else if (shift && (adds32 || adds64)) {
        // LEA
    } else if ((op == "add" || op == "sub") && is_integer(in.type, 4) && adds32) {
        // IADD3
    } else if (logic(op) && logic(into) && in.type == taker.type) {
        // LOP3
    } else {
        return;
    }
    fold(pc);
    took[user] = true;
}

// ISETP and FSETP combine with a predicate.
void Pass::predicates(uint32_t pc) {
    if (!plain(pc) || name(pc) != "setp") return;
    const uint32_t user = only_user(pc);
    if (user == none || code[user].type != Type::pred || took[user] || out[user].instructions == 0) return;
    if (name(user) != "and" && name(user) != "or" && name(user) != "xor") return;
    fold(pc);
    took[user] = true;
}

// 64-bit integers are pairs of registers.
void Pass::wide(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (in.kind != Kind::lane_wise || out[pc].instructions == 0 || out[pc].wide_add || !is_integer(in.type, 8)) return;
    const std::string_view op = name(pc);
    if (op == "mul" || op == "mad")
        out[pc].instructions = 4;
    else if (op == "min" || op == "max" || op == "shl" || op == "shr")
        out[pc].instructions = 3;
    else if (op == "add" || op == "sub" || op == "and" || op == "or" || op == "xor" || op == "not" || op == "setp" ||
             op == "selp" || op == "neg")
        out[pc].instructions = 2;
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
        if (in.kind == Kind::load && in.space == Space::shared && in.mode == 0) {
            if (in.vector == 1 && in.guard == no_operand && in.address >= 0 && size_of(in.type) == 4 && in.offset >= 0 &&
                in.offset % 4 == 0) {
                bases.insert(in.address);
                Group& group = groups[{in.address, in.offset / 16}];
                uint32_t& place = group.word[static_cast<size_t>(in.offset / 4 % 4)];
                if (place == none) place = pc;  // a second load of the same word stays one of its own
            }
        } else if (!lanes && !(in.kind == Kind::load && in.mode == 0)) {
            close();  // stores, barriers and the like
        }
        each_write(in, [&](int32_t r) {
            if (bases.contains(r)) close();
        });
    }
    close();
}

// ptxas moves loads up, together with the arithmetic of their addresses, so that they are under way together: a load counts
// as issued when a mark in front of it was.
//   shared memory: the farther of two marks, most_early / 2 instructions apart and the first behind what holds loads up
//   global memory: the first load since the last barrier, store to global memory or call, as far as registers go; stores to
//                  shared memory are another state space and hold nothing up
void Pass::hoist_loads(uint32_t begin, uint32_t end) {
    struct Known {            // a register's value:
        uint32_t to = 0;      // what it is made of is there from here on
        uint32_t cycles = 0;  // that the arithmetic behind that takes
    };
    std::unordered_map<int32_t, Known> known;
    uint32_t mark[2] = {none, none}, global_mark = none, last_mark = none, words = 0, marks = 0;
    bool held = false;  // loads of the next round stay behind something
    int8_t latest = 0;
    const uint32_t last_load = last_shared_load(begin, end);
    for (uint32_t pc = begin; pc < end; ++pc) {
        const DecodedInstruction& in = code[pc];
        uint32_t to = begin, cycles = 0;
        each_read(in, [&](int32_t r) {
            const auto found = known.find(r);
            if (found == known.end()) return;
            to = std::max(to, found->second.to);
            cycles = std::max(cycles, found->second.cycles);
        });
        const bool arithmetic = in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many;
        const bool lanes = arithmetic || in.kind == Kind::special_register;
        const uint32_t more = out[pc].instructions == 0 ? 0 : arithmetic_cycles;
        each_write(in, [&](int32_t r) { known[r] = arithmetic ? Known{to, cycles + more} : Known{pc + 1, 0}; });
        const bool plain_load = in.kind == Kind::load && in.mode == 0;
        if (plain_load && in.space == Space::global) {
            const auto takes = static_cast<uint32_t>((size_of(in.destination_type) + 3) / 4 * in.vector);
            if (global_mark != none && to <= global_mark && words + takes <= most_words) {
                out[pc].from_mark = global_marks;
                words += takes;
            } else {
                out[pc].sets_mark = global_marks;
                global_mark = last_mark = pc;
                words = takes;
                ++marks;
            }
            continue;
        }
        if (!lanes && !plain_load) {
            const bool store = (in.kind == Kind::store || in.kind == Kind::atomic) && in.mode == 0;
            if (!store || in.space != Space::shared) global_mark = none;  // loads stay behind them
            held |= in.kind != Kind::branch && global_mark == none;
            if (!store || in.space != Space::global) mark[0] = mark[1] = none;
            latest = 0;
            continue;
        }
        if (plain_load && in.space == Space::shared) {
            uint32_t farthest = pc;
            for (int8_t k = 0; k < 2; ++k)
                if (mark[k] != none && mark[k] >= to + cycles && mark[k] < farthest) {
                    farthest = mark[k];
                    out[pc].from_mark = k;
                }
        }
        if (pc < last_load && (mark[latest] == none || pc - mark[latest] >= most_early / 2)) {
            if (mark[latest] != none) latest = static_cast<int8_t>(1 - latest);
            mark[latest] = pc;
            out[pc].sets_mark = latest;
        }
    }
    if (marks == 1 && !held) unroll(begin, end, last_mark, words);
}

// A loop of one basic block whose loads nothing holds up, in rounds that do not depend on what they load.
void Pass::unroll(uint32_t begin, uint32_t end, uint32_t mark, uint32_t words) {
    const DecodedInstruction& last = code[end - 1];
    if (last.kind != Kind::branch || last.target != begin || words == 0) return;
    uint32_t machine = 0;
    for (uint32_t pc = begin; pc < end; ++pc) machine += out[pc].instructions;
    const uint32_t rounds = std::min(unrolled, words_at_once() / words);
    if (machine > most_unrolled || rounds < 2 || code[begin].keeps_rolled || depends_on_loads(begin, end)) return;
    out[mark].rounds = static_cast<uint8_t>(rounds);
    out[end - 1].loop = begin;
}

// What the registers hold besides sums and addresses, where it is known how many ptxas took.
uint32_t Pass::words_at_once() const {
    constexpr uint32_t others = 12;
    if (!program.registers_stated) return most_words;
    return std::min(most_words, program.registers_per_thread - std::min(program.registers_per_thread, others));
}

// Whether where a round loads from, or whether there is another one, depends on what an earlier one loaded.
bool Pass::depends_on_loads(uint32_t begin, uint32_t end) const {
    std::unordered_set<int32_t> loaded;
    size_t before = SIZE_MAX;
    for (uint32_t pass = 0; pass < most_passes && before != loaded.size(); ++pass) {
        before = loaded.size();
        for (uint32_t pc = begin; pc < end; ++pc) {
            const DecodedInstruction& in = code[pc];
            bool depends =
                in.kind != Kind::lane_wise && in.kind != Kind::lane_wise_many && in.kind != Kind::special_register;
            each_read(in, [&](int32_t r) { depends |= loaded.contains(r); });
            if (depends) each_write(in, [&](int32_t r) { loaded.insert(r); });
        }
    }
    if (before != loaded.size()) return true;
    for (uint32_t pc = begin; pc < end; ++pc) {
        const DecodedInstruction& in = code[pc];
        if (in.kind != Kind::load && in.kind != Kind::branch) continue;
        bool depends = false;
        each_read(in, [&](int32_t r) { depends |= loaded.contains(r); });
        if (depends) return true;
    }
    return false;
}

// What is made of parameters, constants and the block's place alone is the same in all lanes.
void Pass::find_uniform() {
    std::unordered_set<int32_t> varies;
    const auto differs = [&](const DecodedInstruction& in) {
        bool any = false;
        each_read(in, [&](int32_t r) { any |= varies.contains(r); });
        return any;
    };
    size_t before = SIZE_MAX;
    for (uint32_t pass = 0; pass < most_passes && before != varies.size(); ++pass) {
        before = varies.size();
        for (const DecodedInstruction& in : code) {
            using ptx::SpecialRegister;
            const auto special = static_cast<SpecialRegister>(in.mode);
            const bool place = in.kind == Kind::special_register && special >= SpecialRegister::ntid_x &&
                               special <= SpecialRegister::nctaid_z;
            const bool constant = in.kind == Kind::load && (in.space == Space::param || in.space == Space::constant);
            const bool arithmetic = in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many;
            if ((place || constant || arithmetic) && !differs(in)) continue;
            each_write(in, [&](int32_t r) { varies.insert(r); });
        }
    }
    if (before != varies.size()) return;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
        const DecodedInstruction& in = code[pc];
        if (in.kind != Kind::atomic) continue;
        out[pc].one_address = !varies.contains(in.address);
        out[pc].one_operand = !varies.contains(in.source[0]);
    }
}

uint32_t Pass::last_shared_load(uint32_t begin, uint32_t end) const {
    for (uint32_t pc = end; pc-- > begin;)
        if (code[pc].kind == Kind::load && code[pc].space == Space::shared) return pc;
    return begin;
}

}  // namespace

std::vector<Lowered> lower(const ptx::Program& program, bool enabled) {
    std::vector<Lowered> out(std::max<size_t>(1, program.instructions.size()));
    if (program.instructions.empty()) return out;
    const auto size = static_cast<uint32_t>(program.instructions.size());
    Pass pass{program, program.instructions, out, std::vector<uint32_t>(size, size), {}, {}, {}, std::vector<bool>(size)};
    std::vector<ptx::BasicBlock> blocks;
    if (program.functions.empty()) {
        blocks = ptx::basic_blocks(program.instructions, program.lists, 0, size);
    } else {
        for (const ptx::Function& function : program.functions)
            for (ptx::BasicBlock& block :
                 ptx::basic_blocks(program.instructions, program.lists, function.begin, function.end))
                blocks.push_back(std::move(block));
    }
    for (const ptx::BasicBlock& block : blocks)
        for (uint32_t pc = block.begin; pc < block.end; ++pc) pass.block_end[pc] = block.end;
    if (!enabled) {
        for (uint32_t pc = 0; pc < size; ++pc) pass.wide(pc);
        return out;
    }
    pass.count();
    for (uint32_t pc = 0; pc < size; ++pc) pass.moves(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.addresses(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.pairs(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.predicates(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.wide(pc);
    pass.find_zero_bits();
    pass.find_uniform();
    for (const ptx::BasicBlock& block : blocks) {
        pass.merge_loads(block.begin, block.end);
        pass.hoist_loads(block.begin, block.end);
    }
    return out;
}

}  // namespace lockstep::model
