// What a decoded instruction means, kind by kind: as_barrier(i) gives the fields of a barrier, put(i, BarrierView{...})
// writes them. Each view asserts the instruction's kind, and holds the one description of how its kind is packed into
// DecodedInstruction. Views are values of a few bytes: what is not looked at costs nothing. Operands are as in
// DecodedInstruction::source: registers, constants or no_operand. views_async.h has the asynchronous kinds.
#pragma once
#include <cassert>
#include <span>

#include "core/ptx/decode/program.h"
#include "core/ptx/decode/special_register.h"
#include "core/ptx/opcodes/texture_detail.h"

namespace lockstep::ptx {

// ---- operand lists: of kinds with more operands than the instruction itself holds. `lists` is Program::lists.

inline std::span<const int32_t> listed_results(const std::vector<int32_t>& lists, const DecodedInstruction& i) {
    return std::span(lists).subspan(i.list, i.list_destinations);
}
inline std::span<const int32_t> listed_sources(const std::vector<int32_t>& lists, const DecodedInstruction& i) {
    return std::span(lists).subspan(size_t{i.list} + i.list_destinations, i.list_sources);
}
// The elements that a load, an atomic or a texture gives, and those that a store or an atomic takes: up to four in the
// instruction itself, else in its list.
inline const int32_t* elements_given(const std::vector<int32_t>& lists, const DecodedInstruction& i) {
    return i.list_destinations != 0 ? lists.data() + i.list : i.destination;
}
inline const int32_t* elements_taken(const std::vector<int32_t>& lists, const DecodedInstruction& i) {
    return i.list_sources != 0 ? lists.data() + i.list + i.list_destinations : i.source;
}

// ---- registers from elsewhere

// mov d, %tid.x     destination[0]; variable_address: of `variable` with `offset` added, and of no variable the number
// itself
struct SpecialView {
    SpecialRegister which = SpecialRegister::zero;
    int32_t variable = no_variable;  // index into Program::variables
    int64_t offset = 0;              // bytes behind it
};
inline SpecialView as_special(const DecodedInstruction& i) {
    assert(i.kind == Kind::special_register);
    return {static_cast<SpecialRegister>(i.mode), i.variable, i.offset};
}
inline void put(DecodedInstruction& i, const SpecialView& v) {
    i.mode = static_cast<uint8_t>(v.which);
    i.variable = v.variable;
    i.offset = v.offset;
}
inline bool reads_special(const DecodedInstruction& i, SpecialRegister which) {
    return i.kind == Kind::special_register && as_special(i).which == which;
}

// ---- memory

// ld  destination[0 ... vector-1] = [address + variable + offset];  st  [address + variable + offset] = source[0 ...
// vector-1] ld.param of a kernel has the offset alone, or an address that is an offset.
struct AccessView {
    bool strong = false;         // .volatile, .relaxed, .acquire, .release, .mmio
    bool fetches_again = false;  // ld.cv
};
inline AccessView as_access(const DecodedInstruction& i) {
    assert(i.kind == Kind::load || i.kind == Kind::store);
    return {i.mode == 1, i.fetches_again};
}
inline void put(DecodedInstruction& i, const AccessView& v) {
    i.mode = v.strong ? 1 : 0;
    i.fetches_again = v.fetches_again;
}
inline bool is_weak_load(const DecodedInstruction& i) {
    return i.kind == Kind::load && !as_access(i).strong;
}

// atom, red  destination[0] (absent: red) = the old value; source[0] the operand; cas: source[0] what it compares with,
//            source[1] the new value. Vectors have both in the operand list.
enum class AtomicOperation : uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch, cas };
struct AtomicView {
    AtomicOperation operation = AtomicOperation::add;
};
inline AtomicView as_atomic(const DecodedInstruction& i) {
    assert(i.kind == Kind::atomic);
    return {static_cast<AtomicOperation>(i.mode)};
}
inline void put(DecodedInstruction& i, const AtomicView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
}

// tex, tld4, txq, suld, sust, sured, suq, istypep: texture_detail.h says where their operands are.
struct TextureView {
    TextureOperation operation = TextureOperation::fetch;
    TextureDetail detail;
};
inline TextureView as_texture(const DecodedInstruction& i) {
    assert(i.kind == Kind::texture || i.kind == Kind::surface);
    return {static_cast<TextureOperation>(i.mode), std::bit_cast<TextureDetail>(i.offset)};
}
inline void put(DecodedInstruction& i, const TextureView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.offset = std::bit_cast<int64_t>(v.detail);
}

// ---- among the lanes of a warp

// shfl  destination[0] the value, [1] the predicate or absent; source[0] the value, [1] lane, [2] clamp, [3] member mask
enum class ShuffleOperation : uint8_t { up, down, butterfly, index };
struct ShuffleView {
    ShuffleOperation operation = ShuffleOperation::index;
};
inline ShuffleView as_shuffle(const DecodedInstruction& i) {
    assert(i.kind == Kind::shuffle);
    return {static_cast<ShuffleOperation>(i.mode)};
}
inline void put(DecodedInstruction& i, const ShuffleView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
}

// vote          destination[0] (a predicate; of ballot and activemask b32); source[0] the predicate, [1] the member mask
// activemask    no sources
// match, redux  source[0] a value of `type`, [1] the member mask; destination[0] b32, [1] match.all's predicate
// elect         source[1] the members; destination[0] the lowest of them, [1] whether that is this lane
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
    elect
};
struct VoteView {
    VoteOperation operation = VoteOperation::all;
    bool negated = false;  // the predicate
};
inline VoteView as_vote(const DecodedInstruction& i) {
    assert(i.kind == Kind::vote);
    return {static_cast<VoteOperation>(i.mode), i.negated_source};
}
inline void put(DecodedInstruction& i, const VoteView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.negated_source = v.negated;
}

// bar.sync, bar.red, bar.arrive  source[0] the barrier's number, [1] how many threads it waits for: constants, registers or
// absent; red: destination[0] (popc: b32, else a predicate), source[2] the predicate. bar.warp.sync: source[0] the members.
enum class BarrierOperation : uint8_t { sync, popc, and_, or_, arrive };
struct BarrierView {
    BarrierOperation operation = BarrierOperation::sync;
    bool each_thread = false;  // not .aligned: the threads of a warp may come by different paths
    bool negated = false;      // red: the predicate
};
inline BarrierView as_barrier(const DecodedInstruction& i) {
    assert(i.kind == Kind::barrier);
    return {static_cast<BarrierOperation>(i.mode), i.each_thread, i.negated_source};
}
inline void put(DecodedInstruction& i, const BarrierView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.each_thread = v.each_thread;
    i.negated_source = v.negated;
}

// ---- control

// bra  its target is one of DecodedInstruction's own fields.
// brx.idx  source[0] the index (u32). In Program::lists: how many targets there are, then their pcs.
inline std::span<const int32_t> table_of(const std::vector<int32_t>& lists, const DecodedInstruction& i) {
    assert(i.kind == Kind::branch_table);
    return std::span(lists).subspan(size_t{i.list} + 1, static_cast<size_t>(lists[i.list]));
}

// call  `target` where the function is known, else source[0], its address (u64). The list holds registers that are passed:
//       results, then arguments.
inline const CallSite& call_site(const Program& program, const DecodedInstruction& i) {
    assert(i.kind == Kind::call);
    return program.calls[static_cast<size_t>(i.offset)];
}
inline void put_call_site(DecodedInstruction& i, size_t index) {
    i.offset = static_cast<int64_t>(index);
}

// trap  it stands for a call of __assertfail, or for itself.
// Calls of the system: source[k] is a constant, the offset of parameter k in the local memory of the running frame
// (Warp::local_base more in that of the thread), destination[0] the same of the result, or absent. The list has all
// parameters, also those beyond the fifth. See local_of in core/simt/execute/call.h.
// vprintf(u64 format, u64 arguments) -> s32; malloc(u64 bytes) -> u64; free(u64 pointer); __assertfail(u64 message, u64
// file, u32 line, u64 function, u64 bytes a character). Pointers are generic addresses.
// Those of CUDA's runtime on the device have its functions' parameters, and give a cudaError or an address.
enum class SystemFunction : uint8_t {
    vprintf,
    malloc,
    free,
    assert_fail,
    launch_buffer,    // cudaGetParameterBufferV2
    plain_buffer,     // cudaGetParameterBuffer
    launch_prepared,  // cudaLaunchDeviceV2
    launch_kernel,    // cudaLaunchDevice
    device_wait,      // cudaDeviceSynchronize
    new_stream,
    new_event,
    order_streams,  // what destroys streams and events, records events and waits for them
    last_error,
    peek_error,
    get_device,
    device_count,
    device_malloc,
    device_free,
    copy_async,
    fill_async,
};
struct SystemView {
    SystemFunction function = SystemFunction::vprintf;
};
inline SystemView as_system(const DecodedInstruction& i) {
    assert(i.kind == Kind::system);
    return {static_cast<SystemFunction>(i.mode)};
}
inline bool is_failed_assert(const DecodedInstruction& i) {
    return i.kind == Kind::trap && i.mode == 1;
}
// Of assert_fail it becomes a trap.
inline void put(DecodedInstruction& i, const SystemView& v) {
    const bool traps = v.function == SystemFunction::assert_fail;
    i.kind = traps ? Kind::trap : Kind::system;
    i.mode = traps ? 1 : static_cast<uint8_t>(v.function);
}

// ---- matrices: m, n and k stand in `shape`

// mma, wmma.mma, movmatrix  list: d = a, b, c, each in the order of its registers (those of wmma that hold what others hold
// are left out); sparse: then the metadata and the selector. `type`: of a's elements.
struct MatrixView {
    uint32_t m = 0, n = 0, k = 0;
    bool sparse = false;
    // m8n8k4 of f16: each quarter of the warp has a product of its own.
    bool quarters = false;
};
inline MatrixView as_matrix(const DecodedInstruction& i) {
    assert(i.kind == Kind::matrix);
    return {i.shape[0], i.shape[1], i.shape[2], i.mode == 1, i.shape[0] == 8 && i.shape[2] == 4 && i.type == Type::f16};
}
inline void put_sparse(DecodedInstruction& i, bool sparse) {
    assert(i.kind == Kind::matrix);
    i.mode = sparse ? 1 : 0;
}

// ldmatrix, stmatrix, wmma.load, wmma.store  list: the registers; address and offset as of a load; wmma: source[0] the
// stride
enum class MatrixOperand : uint8_t { tiles, a, b, c };  // tiles: of ldmatrix and stmatrix
struct FragmentView {
    MatrixOperand operand = MatrixOperand::tiles;
    bool turned = false;  // .trans or .col
};
inline FragmentView as_fragment(const DecodedInstruction& i) {
    assert(i.kind == Kind::matrix_load || i.kind == Kind::matrix_store);
    return {static_cast<MatrixOperand>(i.mode & 7), (i.mode & 8) != 0};
}
inline void put(DecodedInstruction& i, const FragmentView& v) {
    i.mode = static_cast<uint8_t>(static_cast<unsigned>(v.operand) | (v.turned ? 8u : 0u));
}

// wgmma.mma_async  list: d = a (4 registers, or a descriptor), b (a descriptor), scale-d (a predicate), then c, the
// registers of d; sparse: then the metadata and the selector.
struct GroupView {
    uint32_t m = 0, n = 0, k = 0;
    bool a_in_registers = false, negates_a = false, negates_b = false, turns_a = false, turns_b = false;
    bool negates_scale = false, sparse = false;

    // Where they begin among the listed sources.
    uint32_t a_entries() const { return a_in_registers ? 4 : 1; }
    uint32_t b_at() const { return a_entries(); }
    uint32_t scale_at() const { return a_entries() + 1; }
    uint32_t metadata_at(uint32_t results) const { return a_entries() + 2 + results; }
};
inline GroupView as_group(const DecodedInstruction& i) {
    assert(i.kind == Kind::matrix_group);
    const auto bit = [&](unsigned n) { return (i.mode >> n & 1) != 0; };
    return {i.shape[0], i.shape[1], i.shape[2], bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6)};
}
inline void put(DecodedInstruction& i, const GroupView& v) {
    const bool bits[] = {v.a_in_registers, v.negates_a, v.negates_b, v.turns_a, v.turns_b, v.negates_scale, v.sparse};
    i.mode = 0;
    for (unsigned n = 0; n < std::size(bits); ++n) i.mode = static_cast<uint8_t>(i.mode | (bits[n] ? 1u << n : 0u));
}

// wgmma.fence, commit_group, wait_group  nothing happens at them in this machine: Kind::nop with an opcode of wgmma
enum class GroupOrder : uint8_t { none, fence, commit, wait };
struct GroupOrderView {
    GroupOrder order = GroupOrder::none;  // none: another instruction
    int64_t pending = 0;                  // wait: groups that may be under way
};
inline GroupOrderView as_group_order(const DecodedInstruction& i) {
    if (i.kind != Kind::nop || i.opcode == nullptr || i.opcode->kind != Kind::matrix_group) return {};
    return {static_cast<GroupOrder>(i.mode), i.offset};
}
inline void put(DecodedInstruction& i, const GroupOrderView& v) {
    i.kind = Kind::nop;
    i.mode = static_cast<uint8_t>(v.order);
    i.offset = v.pending;
}

}  // namespace lockstep::ptx
