// What a row of the opcode table says of its instruction besides its spelling and what it computes: the GPUs that have it,
// what ptxas makes of it, what it costs, who sees what it does, and how it reaches memory. Plain data that opcodes.cpp
// writes into the rows; a fact that is left out is that of plain arithmetic.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::ptx {

// Which pipeline takes the instruction. Names as in the unit list of Nsight Compute.
enum class Unit : uint8_t { fma, alu, fp64, xu, lsu, tensor, cbu, uniform };  // cbu: branches, barriers, exit

// A modifier that needs a later GPU than the instruction itself: "Target ISA Notes" of the PTX ISA.
struct Since {
    std::string_view modifier;  // as written, with its dot
    uint16_t compute = 0;       // 80: compute capability 8.0
};

// The floating-point operation of one element, as rooflines count it: a fused multiply-add is two, the others one.
enum class Counts : uint8_t { nothing, addition, multiplication, multiply_add, special };
constexpr uint32_t flops_of(Counts counts) {
    return counts == Counts::nothing ? 0 : counts == Counts::multiply_add ? 2 : 1;
}

// What it is to ptxas, which knows the algebra of some instructions: it gives moves no machine instruction, makes one of two
// that fit together, and knows how addresses are aligned. The rules are those of core/model/lowering.
enum class Does : uint8_t {
    other,
    copy,          // d = a, in registers of any sizes
    address,       // d = a as an address of another space
    convert,       // d = a as another integer
    sign,          // d = -a or |a|: a modifier of the operand
    sum,           // d = a + b of integers
    difference,    // d = a - b of integers
    product,       // d = a * b of integers
    multiply_add,  // d = a * b + c, in the register of c where that can be
    shift_left,    // d = a << b
    and_,          // d = a & b
    or_,           // d = a | b
    xor_,          // d = a ^ b
    not_,          // d = ~a
    insert,        // d = b with a field of a
    compare        // p = whether a compares to b
};

// What an operation leaves of an address among its sources.
enum class Effect : uint8_t {
    made_of,  // it is none any more
    copied,
    moved,  // something was added that is not known before the launch
    added,  // the other source, when that is a constant
    subtracted
};
struct OfAddress {
    Effect effect = Effect::made_of;
    uint8_t sources = 0;  // which of them: a bit each
};

// Where the instruction stands for a whole sequence on silicon: what that costs on V100. It scales with FP32 latency.
struct Sequence {
    uint8_t bytes = 4;         // of the type: 8 for 64 bits, 4 for all others
    bool approximate = false;  // the .approx spelling
    uint16_t latency = 0;      // cycles
    uint16_t interval = 0;     // cycles for which the pipe is taken
    std::string_view source;
};

// What an instruction of any type does with numbers of 64 bits.
enum class Doubles : uint8_t {
    as_others,
    on_fp64,      // they go to the FP64 pipe
    at_fp64_rate  // they stay on the unit and take as long as on the FP64 pipe
};

// Which way an instruction takes through the SM when it issues.
enum class Route : uint8_t {
    math,      // its unit, for a fixed time
    memory,    // a queue of memory instructions, then where its space lies
    mbarrier,  // as memory, in the block's shared memory
    constant,  // the constant caches: loads of parameters and constants
    shuffle,
    branch,
    barrier,
    exit,
    fence,
    sleep
};

// Beyond the block, who may see what the instruction does, or whose doings it may see: SMs do such in the order of cycles.
enum class Seen : uint8_t {
    by_block,    // nobody
    by_cluster,  // the other blocks of the cluster, where there are any
    by_space,    // who sees the memory that it names: shared memory the cluster, other memory all
    by_all
};

// What it is to the counters of memory.
enum class Access : uint8_t {
    none,
    load,
    store,
    atomic,
    copy,  // from global to shared memory, past the registers
    texture,
    surface_load,
    surface_store
};

// Which global memory it may write.
enum class Writes : uint8_t { nothing, at_address, anywhere };

struct Facts {
    uint16_t since = 0;              // compute capability that brought it; 0: every GPU here (5.3 and later) has it
    std::span<const Since> later{};  // modifiers that came later; see also `since_of` in opcode.h

    Counts counts = Counts::nothing;
    Does does = Does::other;
    OfAddress of_address{};
    uint8_t words = 1;  // machine instructions where its integers have 64 bits, which are pairs of registers

    std::span<const Sequence> sequences{};
    Doubles doubles = Doubles::as_others;
    uint8_t results = 0;  // lanes a cycle and SM, where that is not the unit's

    Route route = Route::math;
    Seen seen = Seen::by_block;
    Access access = Access::none;
    Writes writes = Writes::nothing;

    bool any_order = false;  // its modifiers may stand in any order, as inline assembly writes them
};

}  // namespace lockstep::ptx
