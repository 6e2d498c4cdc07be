// One pass over a program, inside of lowering.cpp: what the rules share. A rule looks at one instruction or one basic block
// and writes down in `out` what it found. What an instruction is to the rules, its row of the opcode table says: ptx::Does.
//
//   lowering_fold.cpp      moves, addresses, pairs, predicates; 64-bit integers
//   lowering_sequence.cpp  divisions and roots
//   lowering_loads.cpp     neighbouring loads of shared memory become one
//   lowering_predicate.cpp short branches become predicates
//   lowering_early.cpp     loads move up, short loops are unrolled
//   lowering_uniform.cpp   atomics whose lanes all have one address or one operand
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/lowering/lowering.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::model::lowering {

using ptx::DecodedInstruction;
using ptx::Does;
using ptx::Kind;
using ptx::no_operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t none = UINT32_MAX;
// Over instructions: an untrusted program may order them badly. What is not known by then is not used.
constexpr uint32_t most_passes = 32;
constexpr uint32_t unknown_bits = 32;  // trailing zeros of a register that nobody has written yet

bool is_integer(Type type, size_t bytes);

struct Pass {
    Pass(const ptx::Program& program, std::vector<Lowered>& out);

    const ptx::Program& program;
    const std::vector<DecodedInstruction>& code;
    std::vector<Lowered>& out;
    uint32_t registers;  // a thread, where the program states them
    std::vector<ptx::BasicBlock> blocks;
    std::vector<uint32_t> block_end;                  // of each instruction's basic block
    std::unordered_map<int32_t, uint32_t> uses;       // of a register: reads in the program
    std::unordered_map<int32_t, uint32_t> writes;     // and writes
    std::unordered_map<int32_t, uint32_t> zero_bits;  // trailing zeros of each value it ever has
    std::vector<bool> took;                           // has taken another instruction in already
    struct Jumps {
        uint32_t first = none, last = none;  // none where nobody jumps
    };
    std::vector<Jumps> jumps;   // to each instruction: from where
    std::vector<bool> goes_on;  // where a block begins that goes on with the one before: find_stretches

    Does does(uint32_t pc) const { return ptx::facts_of(code[pc]).does; }
    bool plain(uint32_t pc) const { return code[pc].kind == Kind::lane_wise && code[pc].guard == no_operand; }
    void fold(uint32_t pc) { out[pc].instructions = 0; }

    template <class F>
    void each_read(const DecodedInstruction& in, F&& see) const {
        ptx::each_read(program.lists, in, see);
    }
    template <class F>
    void each_write(const DecodedInstruction& in, F&& see) const {
        ptx::each_written(program.lists, in, see);
    }
    bool reads(uint32_t pc, int32_t reg) const { return ptx::reads(program, code[pc], reg); }
    bool writes_to(uint32_t pc, int32_t reg) const { return ptx::writes(program, code[pc], reg); }

    // The only user of the result of `pc`, behind it in the same basic block, with the sources of `pc` still as they were.
    uint32_t only_user(uint32_t pc) const;

    void find_zero_bits();
    uint32_t zeros_of(const DecodedInstruction& in) const;
    uint32_t zeros(int32_t operand) const;

    std::string_view freely_rounded(uint32_t pc) const;
    void moves(uint32_t pc);
    void addresses(uint32_t pc);
    void pairs(uint32_t pc);
    void predicates(uint32_t pc);
    void wide(uint32_t pc);
    uint32_t steps_of(uint32_t pc) const;
    void count_slots(uint32_t pc);
    void merge_loads(uint32_t begin, uint32_t end);
    void find_jumps();
    void predicate(uint32_t pc);
    std::vector<ptx::CodeRange> find_stretches();
    void hoist_loads(uint32_t begin, uint32_t end);
    uint32_t last_shared_load(uint32_t begin, uint32_t end) const;
    void unroll(uint32_t begin, uint32_t end, uint32_t mark, uint32_t words);
    bool counts_by_constants(uint32_t begin, uint32_t end) const;
    bool depends_on_loads(uint32_t begin, uint32_t end) const;
    void find_uniform();
    uint32_t words_at_once() const;
};

}  // namespace lockstep::model::lowering
