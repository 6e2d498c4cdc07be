// A decoded kernel: what `decode` makes of one entry of a Module, ready for a warp to step through. Immutable.
//
// A warp's register file is one block of bytes; an operand is a byte offset into it: 32 lanes of 1, 2, 4 or 8 bytes, or one
// uint32_t mask for a predicate. Negative offsets point into `constants` (immediates, broadcast to 32 lanes):
// `operand >= 0 ? registers + operand : constants + ~operand`. Every slot is 64-byte aligned.
#pragma once
#include <algorithm>
#include <memory>
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

// The address of function number n of the module is function_window + (n + 1) * function_bytes; nothing can be read there.
constexpr uint64_t function_window = 0x0400'0000'0000ull;
constexpr uint64_t function_bytes = 16;

enum class SpecialRegister : uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    smid,
    nsmid,
    gridid,
    lanemask_eq,
    lanemask_lt,
    lanemask_le,
    lanemask_gt,
    lanemask_ge,
    clock,
    clock64,
    globaltimer,
    dynamic_smem_size,
    total_smem_size,
    variable_address,  // mov of a .global or .const variable: the address of DecodedInstruction::variable plus offset
    clock_hi,
    globaltimer_lo,
    globaltimer_hi,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_ctarank,
    cluster_nctarank,
    is_explicit_cluster,  // a predicate
    zero,                 // the fourth component of %tid and its like
    envreg,               // what the driver passes on: nothing here, but for the next two
    envreg1,              // upper and lower word of the address of the grid's workspace (grid.sync()), see simt::Grid
    envreg2,
    pm,  // performance monitors, of 32 and 64 bits: they count nothing here
    pm_64,
    reserved_smem_begin,  // the system's own part of a block's shared memory: begin and 0; 1, where cooperative groups keep
    reserved_smem_1,      // the barriers of tiles larger than a warp; end and cap
    reserved_smem_end,
    aggr_smem_size,
    current_graph_exec,
};

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
    uint8_t mode = 0;                    // shuffle: 0 up 1 down 2 bfly 3 idx; vote: VoteOperation;
                                         // barrier: 0 sync, red: 1 popc 2 and 3 or, 4 arrive;
                                         // load, store: 1 .volatile, .relaxed, .acquire, .release or .mmio, 0 weak;
                                         // atomic: AtomicOperation; special_register: SpecialRegister
    bool guard_negated = false;          // @!p
    bool uniform = false;                // bra.uni
    bool negated_source = false;         // vote, barrier: !p
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
    int64_t offset = 0;              // memory: added to the base; holds the symbol's offset in its space
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
    uint16_t shape[3] = {0, 0, 0};  // matrices: m, n and k as written
};

// The operands of the kinds that are not lane-wise:
//   load     destination[0..vector-1] = [address + offset]; ld.param has offset alone, or an address that is an offset
//   store    [address + offset] = source[0..vector-1]
//   atomic   destination[0] (absent: red) = old value; source[0] the operand; cas: source[0] compare, source[1] new value
//   shuffle  destination[0], [1] the predicate or absent; source[0] value, [1] lane, [2] clamp, [3] member mask (all 32-bit)
//   vote     destination[0] (predicate; ballot, activemask: b32); source[0] predicate, [1] member mask; negated_source: !p
//            activemask: no sources; match, redux: source[0] a value of `type`, destination[0] b32, [1] match.all's
//            predicate
//   barrier  source[0] barrier number, [1] thread count, each a constant, a register or absent
//            red: destination[0] (popc: b32, else a predicate), source[2] the predicate; negated_source: !p
//   trap     mode 1: a failed assert
//   matrix   list: d = a, b, c, each in the order of its registers (those of wmma that hold what others hold are left out);
//            sparse (mode 1): then the metadata and the selector; `type`: of a's elements
//   matrix_load, matrix_store   list: the registers; mode: MatrixOperand, + 8 for .trans or .col; wmma: source[0] the stride
//   matrix_group   list: d = a (registers, or a descriptor), b (a descriptor), scale-d (a predicate), then c, the registers
//            of d; mode bits: 0 a in registers, 1 -a, 2 -b, 3 a transposed, 4 b transposed, 5 scale-d negated, 6 sparse:
//            then the metadata and the selector
//   branch_table  source[0] the index (u32); Program::lists from `list` on: how many targets there are, then their pcs
//   call     offset: index into Program::calls; source[0] the address (u64) where the function is not known
//   return_  nothing
//   system   mode: SystemFunction; source[k] a constant, the offset of parameter k in the local memory of the running frame
//            (Warp::local_base more in that of the thread), destination[0] the same of the result, or absent. The call
//            has more than four parameters: all of them in the operand list (list, list_sources). See local_of in
//            core/simt/execute/call.h
//   warp_barrier  source[0] the member mask
//   fence, nop, exit: nothing
enum class VoteOperation : uint8_t {
    all,
    any,
    uni,
    ballot,
    activemask,
    match_any,
    match_all,
    redux_add,
    redux_min,
    redux_max,
    redux_and,
    redux_or,
    redux_xor,
    elect  // source[1] the members; destination[0] the lowest of them, [1] whether that is this lane
};
// vprintf(u64 format, u64 arguments) -> s32; malloc(u64 bytes) -> u64; free(u64 pointer); __assertfail(u64 message, u64
// file, u32 line, u64 function, u64 bytes a character). Pointers are generic addresses.
enum class SystemFunction : uint8_t { vprintf, malloc, free, assert_fail };
enum class MatrixOperand : uint8_t { tiles, a, b, c };  // tiles: of ldmatrix and stmatrix
enum class AtomicOperation : uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch, cas };

// Asynchronous instructions keep their sources in Program::lists; an address there is two entries, its base register
// and a constant (decoder_async.cpp says what of). In order:
//   async_copy  to, from, then the operand that limits or ignores the source; vector: 32-bit words of a lane; mode:
//   AsyncCopy async_wait, bulk_wait  mode: AsyncWait; offset: how many groups may be pending; arrive: an address mbarrier
//   mode: MbarrierOperation; offset: mbarrier_ flags; an address (not pending_count), then a count, bytes, a state
//               or a parity, and a time; destination[0] the state, predicate or count
//   bulk_copy   mode: AsyncBulk; see decoder_bulk.cpp
//   cluster     mode: ClusterOperation; map, rank: source[0] the address, [1] the rank; offset: cluster_shared_address
enum class AsyncCopy : uint8_t { whole, limits_source, ignores_source };
enum class AsyncWait : uint8_t { commit_group, wait_group, wait_group_read, wait_all, arrive, arrive_no_increment };
enum class MbarrierOperation : uint8_t {
    init,
    inval,
    arrive,
    arrive_drop,
    expect_tx,
    complete_tx,
    test_wait,
    try_wait,
    pending_count
};
constexpr int64_t mbarrier_expects = 1, mbarrier_no_complete = 2, mbarrier_parity = 4;
enum class AsyncBulk : uint8_t {
    copy,
    reduce,
    prefetch,
    tensor_load,
    tensor_store,
    tensor_reduce,
    tensor_prefetch,
    store,
    red
};
// Tells an mbarrier; goes to several blocks; a tensor's pixels in im2col mode; only the bytes of a mask.
constexpr int64_t bulk_signals = 1, bulk_multicast = 2, bulk_im2col = 4, bulk_masked = 8;
enum class ClusterOperation : uint8_t { arrive, wait, map, rank };
//   tensor_map  mode: TensorMapOperation; replace: the map's address, the new value; shape[0] the field (TensorMapField),
//               shape[1] the dimension; copy: addresses to and from
//   multimem    address and offset as of a load; mode: MultimemOperation; shape[0]: AtomicOperation of load and reduce,
//   list:
//               the registers, destinations of a load
enum class TensorMapOperation : uint8_t { replace, copy };
enum class TensorMapField : uint8_t {
    global_address,
    rank,
    box_dim,
    global_dim,
    global_stride,
    element_stride,
    element_type,
    interleave_layout,
    swizzle_mode,
    swizzle_atomicity,
    fill_mode
};
enum class MultimemOperation : uint8_t { load, store, reduce };
constexpr int64_t cluster_shared_address = 1;  // mapa, getctarank: of shared::cluster, not generic

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
    std::vector<int32_t> function_at;    // by number in the module: index into `functions`, or -1: not part of this program
    std::vector<int32_t> lists;          // operand lists of instructions, see DecodedInstruction::list
    uint32_t registers_per_thread = 0;   // 32-bit registers: live-range maximum of the program, or as the compiler stated
    bool registers_stated = false;       // so it did
    uint32_t static_shared = 0;          // bytes a block
    uint32_t reserved_shared = 0;        // the system's own, behind all others, where the program asks for it
    uint32_t dynamic_shared_offset = 0;  // where extern shared memory begins
    uint32_t local_bytes = 0;            // a thread, functions that are called included; each once: recursion takes more
    uint32_t max_threads = 0;            // .maxntid product, 0: none
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

    const std::string& shown_name() const { return name.empty() ? kernel : name; }  // for people
};

// Shared memory of a block whose launch asks for so many dynamic bytes.
inline uint64_t shared_bytes(const Program& program, uint64_t dynamic) {
    return std::max(program.static_shared, program.dynamic_shared_offset) + dynamic;
}

// The text of instruction `pc` as the PTX has it, without indentation and semicolon.
std::string text_of(const Program& program, uint32_t pc);

}  // namespace lockstep::ptx
