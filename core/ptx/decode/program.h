// A decoded kernel: what `decode` makes of one entry of a Module, ready for a warp to step through. Immutable.
//
// A warp's register file is one block of bytes; an operand is a byte offset into it: 32 lanes of 1, 2, 4 or 8 bytes, or one
// uint32_t mask for a predicate. Negative offsets point into `constants` (immediates, broadcast to 32 lanes):
// `operand >= 0 ? registers + operand : constants + ~operand`. Every slot is 64-byte aligned.
//
// Functions that the kernel may call are decoded behind it (Program::functions), each with registers and local memory of its
// own; those that only a pointer may reach come along when there is a call through a register. `.param` variables of calls
// lie in the frame's local memory. The kernel's registers and local memory are the largest sums along chains of calls, where
// recursion counts one round.
#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::ptx {

constexpr int32_t no_operand = INT32_MAX;
constexpr uint32_t no_pc = UINT32_MAX;
constexpr int32_t no_variable = -1;

// Generic addresses: global memory at its own address; a thread's local and its block's shared memory seen through
// windows. cvta.shared adds shared_window to an offset in shared memory, cvta.to.shared takes it away.
// The shared memory of the block of rank r in a cluster lies (r + 1) * window_bytes behind shared_window, in addresses of
// shared::cluster and generic ones alike; a block's own memory is at its plain offset too.
constexpr uint64_t window_bytes = uint64_t{1} << 24;
constexpr uint32_t most_cluster_blocks = 16;
constexpr uint32_t reserved_shared_bytes = 1024;  // a block, from 8.0 on (CUDA Programming Guide, shared memory of each)
constexpr uint64_t shared_window = 0x0100'0000'0000ull;
constexpr uint64_t cluster_window_bytes = window_bytes * (most_cluster_blocks + 1);  // all of shared::cluster
constexpr uint64_t local_window = 0x0200'0000'0000ull;
constexpr uint64_t param_window = 0x0300'0000'0000ull;  // the kernel's parameters (__grid_constant__), read only

// Where functions lie; nothing can be read there. The module's kernels are numbered behind its functions.
constexpr uint64_t function_window = 0x0400'0000'0000ull;
constexpr uint64_t function_bytes = 16;
constexpr uint64_t address_of_function(uint64_t number) {
    return function_window + (number + 1) * function_bytes;
}

// One instruction of any kind. Lane-wise ones and the fields that all have can be read as they stand. What `mode`, `offset`,
// `shape` and the operands of another kind mean is written in views.h and views_async.h: as_barrier(i).operation.
struct DecodedInstruction {
    const Opcode* opcode = nullptr;
    LaneFunction lanes = nullptr;     // lane_wise only
    ManyLaneFunction many = nullptr;  // lane_wise_many only
    Kind kind = Kind::lane_wise;
    Type type = Type::none;              // the operation's type (of the memory access for loads and stores)
    Type destination_type = Type::none;  // of the registers: a load widens `type` to it by the sign of `type`; a store and
                                         // an atomic take the low bytes of registers of this type (sources alike)
    Type second_type = Type::none;       // of destination[1] where it differs: a predicate, a carry flag
    Space space = Space::none;           // loads, stores, atomics; after cvta folding where it is known
    uint8_t vector = 1;                  // elements a lane: 1, 2, 4
    uint8_t mode = 0;                    // which of its kind it is: see the view of the kind, views.h
    bool guard_negated = false;          // @!p
    bool uniform = false;                // bra.uni
    bool negated_source = false;         // of a predicate among the sources: !p
    bool fetches_again = false;          // load: .cv
    bool each_thread = false;            // barrier: not .aligned: the threads of a warp may come by different paths
    int32_t guard = no_operand;          // predicate register
    int32_t destination[4] = {no_operand, no_operand, no_operand,
                              no_operand};  // vector elements; [1] also setp's second p|q
    int32_t source[5] = {no_operand, no_operand, no_operand, no_operand, no_operand};  // a store's values when vector > 1
    int32_t address = no_operand;  // memory: base register (64- or 32-bit, see address_bytes), or no_operand for absolute
    uint8_t address_bytes = 8;
    bool approximate = false;        // .approx
    bool keeps_rolled = false;       // .pragma "nounroll" for the loop that it begins
    int32_t variable = no_variable;  // memory: index into Program::variables, whose device address is added to the base
    int64_t offset = 0;              // memory: added to the base; holds the symbol's offset in its space. Else by the view
    uint32_t target = no_pc;         // branch; call of a known function: its first instruction
    uint32_t reconvergence = no_pc;  // branch: immediate post-dominator; no_pc: only at exit
                                     // (a guarded exit does not count as a path: lanes that leave do not come back)
    int32_t line = 0;                // of the CUDA source, 0 unknown
    int32_t file = 0;                // index into Program::files
    int32_t ptx_line = 0;            // of the PTX text
    // Kinds with more operands than fit above have them in Program::lists: from `list` on, first the destinations, then
    // the sources; offsets as in `source`.
    uint32_t list = 0;
    uint16_t list_destinations = 0, list_sources = 0;
    uint16_t shape[3] = {0, 0, 0};  // by the view; matrices: m, n and k as written
};

// What the row says; of an instruction that a test made without a row, that it is plain arithmetic.
inline const Facts& facts_of(const DecodedInstruction& in) {
    static constexpr Facts plain;
    return in.opcode == nullptr ? plain : in.opcode->facts;
}

struct Parameter {
    std::string name;
    Type type = Type::none;
    uint32_t offset = 0;  // in the parameter block
    uint32_t bytes = 0;   // size; larger than size_of(type) for .b8 arrays (structs)
    uint32_t align = 0;
    bool pointer = false;  // hint: some .ptr attribute or cvta.to.global applied to it
};

struct Register {  // for watches: which PTX name lives at which operand offset
    std::string name;
    Type type = Type::none;
    int32_t offset = 0;
    int32_t function = 0;  // whose frame it is in: index into Program::functions
};

struct Passed {                    // a parameter or a result of a function, on one side of a call
    int32_t operand = no_operand;  // a register, or a constant that is passed; no_operand: in the frame's local memory
    uint32_t offset = 0;           // there
    uint32_t bytes = 0;            // of a lane; 0: a predicate
};

// The kernel (functions[0]) or a function that it may call. Each call has a frame of its own: registers, and the part of
// the threads' local memory that holds the function's .local and .param variables.
struct Function {
    std::string name;             // as in PTX
    uint32_t begin = 0, end = 0;  // its instructions
    uint32_t register_bytes = 0;  // of a frame, all 32 lanes
    uint32_t local_bytes = 0;     // of a frame, a thread
    uint32_t registers = 0;       // 32-bit registers a thread that its own values need
    // By slots of 64 bytes: how many bytes a lane has of the register that begins there; 0 is a predicate.
    std::vector<uint8_t> lane_bytes;
    int32_t base32 = no_operand;  // registers that a call fills with where the frame's local memory begins,
    int32_t base64 = no_operand;  // or absent
    std::vector<Passed> parameters, results;
    std::string problem;  // why it cannot run; only of a function that is reached through its address alone
};

struct CallSite {
    int32_t function = -1;  // index into Program::functions; -1: by the address in source[0]
    std::vector<Passed> arguments, results;
};

struct InitialAddress {     // among a variable's initial values, little-endian
    uint64_t at = 0;        // its byte
    uint32_t bytes = 8;     // that it takes
    uint32_t shift = 0;     // bits of the address below those
    int32_t variable = -1;  // index into Program::variables
    uint64_t addend = 0;
};

struct GlobalVariable {  // module-level .global and .const variables; placed in device memory at launch
    std::string name;
    Space space = Space::global;
    Opaque opaque = Opaque::none;
    uint64_t bytes = 0;
    uint32_t align = 0;
    std::vector<std::byte> initial;  // empty: zero; holds the addresses of functions, which do not depend on the launch
    std::vector<InitialAddress> addresses;
};

struct SharedVariable {  // for reports; those of .extern take what is left, and have 0 bytes here
    std::string name;
    uint32_t offset = 0, bytes = 0;
};

struct TextRange {  // of an instruction in Program::ptx
    uint32_t begin = 0, length = 0;
};

// What a compiler takes for the GPUs from one compute capability on, up to the next that is named.
struct RegistersFor {
    uint32_t compute = 0;    // 80: 8.0
    uint32_t registers = 0;  // 32-bit registers a thread
};

// What others keep of a program from launch to launch. A copy of the program begins with nothing.
struct KeptBeside {
    KeptBeside() = default;
    KeptBeside(const KeptBeside&) {}
    KeptBeside& operator=(const KeptBeside&) {
        translated = translated_apart = nullptr;
        return *this;
    }
    std::mutex mutex;
    std::shared_ptr<void> translated, translated_apart;  // by core/simt/native
};

struct Program {
    std::string kernel;  // entry name as in PTX
    std::string name;    // the same as C++ has it: axpy for _Z4axpyfPKfPfi; see shown_name()
    std::string target;  // "sm_70"
    std::vector<DecodedInstruction> instructions;
    std::vector<std::byte> constants;  // 64-byte aligned slots
    std::vector<Parameter> parameters;
    uint32_t parameter_bytes = 0;
    uint32_t register_bytes = 0;  // of one warp's register file (all 32 lanes); functions that are called have their own
    std::vector<Register> registers;
    std::vector<Function> functions;  // [0] the kernel itself, then those it may call; empty: there is only the kernel
    std::vector<CallSite> calls;
    std::vector<int32_t> function_at;   // by number in the module: index into `functions`, or -1: not part of this program
    std::vector<int32_t> lists;         // operand lists of instructions, see DecodedInstruction::list
    uint32_t registers_per_thread = 0;  // 32-bit registers: live-range maximum of the program, or as the compiler stated
    bool registers_stated = false;      // so it did
    std::vector<RegistersFor> registers_for;  // where it stated them for several GPUs: by rising compute capability
    uint32_t static_shared = 0;               // bytes a block
    uint32_t reserved_shared = 0;             // the system's own, behind all others, where the program asks for it
    uint32_t dynamic_shared_offset = 0;       // where extern shared memory begins
    uint32_t local_bytes = 0;  // a thread, functions that are called included; each once: recursion takes more
    uint32_t max_threads = 0;  // .maxntid product, 0: none
    uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
    uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster; 0: as the launch says
    uint32_t max_cluster_blocks = 0;           // .maxclusterrank, 0: none
    bool explicit_cluster = false;             // .explicitcluster
    std::vector<GlobalVariable> variables;
    std::vector<SharedVariable> shared_variables;  // by offset
    std::vector<std::string> files;                // of .file, index 0 unused
    std::string source_file;                       // the .cu that most lines come from
    std::string ptx;                               // the whole PTX text, for display
    std::string ptx_file;
    std::vector<TextRange> texts;  // one an instruction; empty ranges for the exit that the decoder adds
    mutable KeptBeside beside;

    const std::string& shown_name() const { return name.empty() ? kernel : name; }  // for people
};

// 32-bit registers a thread on a GPU of this compute capability (80: 8.0).
inline uint32_t registers_on(const Program& program, uint32_t compute) {
    if (program.registers_for.empty()) return program.registers_per_thread;
    uint32_t registers = program.registers_for.front().registers;
    for (const RegistersFor& each : program.registers_for)
        if (each.compute <= compute) registers = each.registers;
    return registers;
}

// Shared memory of a block whose launch asks for so many dynamic bytes.
inline uint64_t shared_bytes(const Program& program, uint64_t dynamic) {
    return std::max(program.static_shared, program.dynamic_shared_offset) + dynamic;
}

// The text of instruction `pc` as the PTX has it, without indentation and semicolon.
std::string text_of(const Program& program, uint32_t pc);

}  // namespace lockstep::ptx
