// What an instruction does to registers and memory, and where the value of a register comes from: once, for everybody.
//
// A register is the byte offset at which it begins in the register file of its function's frame, as in
// DecodedInstruction::source; two functions of a program may have different registers at one offset. For
//
//   0   ld.param.u64  %rd1, [k_param_0];
//   1   ld.param.u32  %r1, [k_param_1];
//   2   mul.wide.u32  %rd2, %r1, 4;
//   3   add.s64       %rd3, %rd1, %rd2;
//   4   @%p1 ld.global.v2.f32 {%f1, %f2}, [%rd3+8];
//
// of instruction 4
//
//   each_read          gives %p1 and %rd3; each_use says that the first is the guard and the second the address
//   each_written       gives %f1 and %f2, and is_conditional says that lanes whose guard does not hold keep their values
//   memory_of          gives one access: 8 bytes of global memory at %rd3 + 8, read
//   definitions_of     of %rd3 gives instruction 3, which nothing else can have overwritten
//   Origins::of_access gives { parameter 0, with an index added, brought by instruction 0 } and { parameter 1, indirect,
//                      brought by instruction 1 }; the line of the first is program.instructions[0].line
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/ptx/analyse/control_flow.h"
#include "core/ptx/decode/program.h"

namespace lockstep::ptx {

// ---- one instruction

enum class Role : uint8_t { guard, address, source, destination };

struct RegisterUse {
    int32_t reg = 0;
    Role role = Role::source;
    uint16_t index = 0;   // among the sources or destinations: of the instruction itself, or of its operand list
    bool listed = false;  // it stands in Program::lists
};

inline bool is_register(int32_t operand) {
    return operand >= 0 && operand != no_operand;
}

// All registers that an instruction reads, then all that it writes, then those of its operand list: written, read. What it
// reads by several of its own operands is given once; what stands in the list is given as often as it stands there.
// `lists` is Program::lists.
template <class Take>
void each_use(const std::vector<int32_t>& lists, const DecodedInstruction& i, Take&& take) {
    const int32_t own[] = {i.guard, i.address, i.source[0], i.source[1], i.source[2], i.source[3], i.source[4]};
    for (size_t k = 0; k < std::size(own); ++k) {
        if (!is_register(own[k]) || std::find(own, own + k, own[k]) != own + k) continue;
        const Role role = k == 0 ? Role::guard : k == 1 ? Role::address : Role::source;
        take(RegisterUse{own[k], role, static_cast<uint16_t>(k < 2 ? 0 : k - 2), false});
    }
    for (uint16_t k = 0; k < std::size(i.destination); ++k)
        if (is_register(i.destination[k])) take(RegisterUse{i.destination[k], Role::destination, k, false});
    const int32_t* const list = lists.data() + i.list;
    for (uint16_t k = 0; k < i.list_destinations; ++k)
        if (is_register(list[k])) take(RegisterUse{list[k], Role::destination, k, true});
    for (uint16_t k = 0; k < i.list_sources; ++k)
        if (const int32_t reg = list[i.list_destinations + k]; is_register(reg))
            take(RegisterUse{reg, Role::source, k, true});
}

template <class Take>
void each_read(const std::vector<int32_t>& lists, const DecodedInstruction& i, Take&& take) {
    each_use(lists, i, [&](const RegisterUse& use) {
        if (use.role != Role::destination) take(use.reg);
    });
}
template <class Take>
void each_written(const std::vector<int32_t>& lists, const DecodedInstruction& i, Take&& take) {
    each_use(lists, i, [&](const RegisterUse& use) {
        if (use.role == Role::destination) take(use.reg);
    });
}

bool reads(const Program& program, const DecodedInstruction& i, int32_t reg);
bool writes(const Program& program, const DecodedInstruction& i, int32_t reg);
bool reads_registers(const DecodedInstruction& i);  // any, the guard included
// The register that an instruction writes and no other; no_operand: it writes none or several.
int32_t only_result(const DecodedInstruction& i);
// Whether lanes that come to the instruction may keep what its destinations held.
inline bool is_conditional(const DecodedInstruction& i) {
    return i.guard != no_operand;
}

// Registers of 32 bits that a register of the function takes: 1, 2 or 4, and 0 for a predicate. Not known of programs that
// were not decoded from text: 1.
uint32_t words_of(const Function& function, int32_t reg);

// Memory that an instruction touches at an address in a register, at a variable or at a fixed place. Tensor maps count;
// textures and surfaces, which are named by handles, and the descriptors of wgmma do not.
struct MemoryOperand {
    Space space = Space::none;       // as the instruction says: may be generic
    int32_t base = no_operand;       // register, or no_operand: the address is the rest
    uint8_t base_bytes = 8;          // 4 or 8
    int32_t variable = no_variable;  // index into Program::variables, whose address is added
    int64_t offset = 0;              // bytes, added
    uint32_t bytes = 0;              // of a lane; 0: as many as the instruction's registers or operands say
    bool reads = false, writes = false;
};
std::vector<MemoryOperand> memory_of(const Program& program, const DecodedInstruction& i);

// ---- a program

// The basic blocks of all functions of a program, and what leads where. Successors are indices into `blocks`.
struct Flow {
    explicit Flow(const Program& program);

    const Program& program;
    std::vector<BasicBlock> blocks;
    std::vector<uint32_t> block_of;                   // by pc
    std::vector<std::vector<uint32_t>> predecessors;  // by block
    std::vector<bool> is_entry;                       // by block: a function begins with it
};

// The instructions whose result a register may hold when a thread comes to `pc`: ascending.
struct Definitions {
    std::vector<uint32_t> pcs;
    bool from_entry = false;  // on some path none of them has run: the register is as the function found it
};
Definitions definitions_of(const Flow& flow, uint32_t pc, int32_t reg);

// Which registers hold values that are read later, backwards over the basic blocks of one function. A register written
// under a guard stays live, as the other lanes keep it.
class Liveness {
  public:
    using Set = std::vector<uint64_t>;  // a bit for each number of a register

    Liveness(const std::vector<DecodedInstruction>& code, const std::vector<int32_t>& lists, uint32_t begin, uint32_t end);

    bool known() const { return known_; }                // false: the function is too large to look at
    bool settled() const { return known_ && settled_; }  // false: it is so large that some registers may be missing
    const std::vector<BasicBlock>& blocks() const { return blocks_; }
    const std::vector<int32_t>& registers() const { return registers_; }  // by number
    Set behind(size_t block) const;                                       // what is live behind its last instruction
    // One step up over an instruction: takes away what it writes, adds what it reads, and tells the numbers of those.
    template <class Number>
    void take_written(uint32_t pc, Set& live, Number&& taken) const {
        const DecodedInstruction& i = code_[pc];
        if (!is_conditional(i))
            each_written(lists_, i, [&](int32_t reg) {
                const uint32_t n = number_of(reg);
                if (has(live, n)) live[n >> 6] &= ~(uint64_t{1} << (n & 63)), taken(n);
            });
    }
    template <class Number>
    void add_read(uint32_t pc, Set& live, Number&& added) const {
        each_read(lists_, code_[pc], [&](int32_t reg) {
            const uint32_t n = number_of(reg);
            if (!has(live, n)) live[n >> 6] |= uint64_t{1} << (n & 63), added(n);
        });
    }
    std::vector<int32_t> before(uint32_t pc) const;  // the registers that are live in front of an instruction, ascending

  private:
    static bool has(const Set& live, uint32_t n) { return (live[n >> 6] >> (n & 63) & 1) != 0; }
    uint32_t number_of(int32_t reg) const { return numbers_[static_cast<size_t>(reg) / 64]; }

    const std::vector<DecodedInstruction>& code_;
    const std::vector<int32_t>& lists_;
    std::vector<BasicBlock> blocks_;
    std::vector<uint32_t> numbers_;  // by slot of 64 bytes
    std::vector<int32_t> registers_;
    std::vector<Set> in_front_;  // by block
    bool known_ = true, settled_ = false;
};

// ---- where values come from

// One thing that a value was made of.
struct Origin {
    enum class From : uint8_t {
        parameter,  // of the kernel: loaded from its `at`-th byte
        variable,   // the address of a .global or .const variable
        special,    // a special register
        memory,     // 8 bytes or more that were read from memory: they may be any address
        unknown     // more than can be told apart, or what an unknown caller passes
    };
    From from = From::unknown;
    // The value may still be an address there: it was copied, converted between address spaces, or something was added.
    // What was multiplied or shifted is none.
    bool direct = false;
    int32_t index = -1;             // into Program::parameters or Program::variables; a SpecialRegister
    uint32_t at = 0;                // parameter: the byte of it that was loaded
    std::optional<int64_t> offset;  // bytes added since, where that is one known number on all ways
    uint32_t pc = no_pc;            // the first instruction that brings it into a register

    bool operator==(const Origin&) const = default;
};

// The origins of all registers of a program, without regard to the order of its instructions: a register that is used again
// for another value has the origins of both. Values that pass through memory come back as From::memory. Sources alone count:
// a guard or an address makes no value.
class Origins {
  public:
    explicit Origins(const Program& program);

    // `pc` says whose register it is: any instruction of its function.
    std::span<const Origin> of(uint32_t pc, int32_t reg) const;
    // Of an address: those of its base with the operand's own offset, and its variable.
    std::vector<Origin> of_access(uint32_t pc, const MemoryOperand& access) const;
    // The one parameter of 8 bytes or variable that an address points into; none: it may be several, or any.
    std::optional<Origin> pointer_of(uint32_t pc, const MemoryOperand& access) const;

  private:
    friend struct OriginsSolver;
    size_t place_of(uint32_t pc, int32_t reg) const;  // in of_; past its end: the program does not name it

    const Program& program_;
    std::vector<uint32_t> begins_;     // of functions, ascending: their first instruction
    std::vector<size_t> first_place_;  // of each: where its registers begin in of_
    std::vector<std::vector<Origin>> of_;
};

}  // namespace lockstep::ptx
