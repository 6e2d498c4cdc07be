// Views of asynchronous instructions, see views.h. Their sources stand in the operand list: numbers and predicates are one
// entry, an address is two: its base register (a constant 0 where there is none) and a constant that says the rest.
#pragma once
#include <cstring>

#include "core/ptx/decode/views.h"

namespace lockstep::ptx {

// The constant of a listed address, by lane: bytes of the base (4 or 8), low and high half of the offset, the space, the
// index of a variable of the module + 1.
struct ListedAddress {
    int32_t base = no_operand;  // a register, or the constant 0
    uint32_t base_bytes = 8;
    uint64_t offset = 0;
    Space space = Space::generic;
    int32_t variable = no_variable;
};
constexpr uint32_t address_entries = 2;
using AddressLanes = uint32_t[5];
inline ListedAddress address_from(int32_t base, const uint32_t* lanes) {
    return {base, lanes[0], lanes[1] | uint64_t{lanes[2]} << 32, static_cast<Space>(lanes[3]),
            static_cast<int32_t>(lanes[4]) - 1};
}
inline std::vector<uint32_t> lanes_of(const ListedAddress& a) {
    return {a.base_bytes, static_cast<uint32_t>(a.offset), static_cast<uint32_t>(a.offset >> 32),
            static_cast<uint32_t>(a.space), static_cast<uint32_t>(a.variable + 1)};
}
// The address that begins with entry `k` of the listed sources.
inline ListedAddress listed_address(const Program& program, const DecodedInstruction& i, uint32_t k) {
    const std::span<const int32_t> sources = listed_sources(program.lists, i);
    assert(k + 1 < sources.size() && sources[k + 1] < 0);
    AddressLanes lanes;
    std::memcpy(lanes, program.constants.data() + ~sources[k + 1], sizeof lanes);
    return address_from(sources[k], lanes);
}

// cp.async  list: to, from, then the operand that limits or ignores the source; vector: words of 32 bits a lane
enum class AsyncCopy : uint8_t { whole, limits_source, ignores_source };
struct AsyncCopyView {
    static constexpr uint32_t to = 0, from = 2, limit = 4;  // in the list
    AsyncCopy source = AsyncCopy::whole;
    bool negated = false;  // ignores_source: the predicate
    uint32_t bytes = 4;
};
inline AsyncCopyView as_async_copy(const DecodedInstruction& i) {
    assert(i.kind == Kind::async_copy);
    return {static_cast<AsyncCopy>(i.mode), i.negated_source, uint32_t{i.vector} * 4};
}
inline void put(DecodedInstruction& i, const AsyncCopyView& v) {
    i.mode = static_cast<uint8_t>(v.source);
    i.negated_source = v.negated;
    i.vector = static_cast<uint8_t>(v.bytes / 4);
}

// cp.async.commit_group, wait_group, wait_all and those of cp.async.bulk; cp.async.mbarrier.arrive: list: the mbarrier
enum class AsyncWait : uint8_t { commit_group, wait_group, wait_group_read, wait_all, arrive, arrive_no_increment };
struct AsyncWaitView {
    AsyncWait operation = AsyncWait::commit_group;
    int64_t pending = 0;  // groups that need not have ended
};
inline AsyncWaitView as_async_wait(const DecodedInstruction& i) {
    assert(i.kind == Kind::async_wait || i.kind == Kind::bulk_wait);
    return {static_cast<AsyncWait>(i.mode), i.offset};
}
inline void put(DecodedInstruction& i, const AsyncWaitView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.offset = v.pending;
}

// mbarrier.*  list: an address (not pending_count), then a count, bytes, a state or a parity, and a time; destination[0] the
// state, predicate or count
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
struct MbarrierView {
    MbarrierOperation operation = MbarrierOperation::init;
    bool expects = false;      // arrive.expect_tx: the operand counts bytes
    bool no_complete = false;  // .noComplete
    bool parity = false;       // the operand of a test is a parity
    bool has_address() const { return operation != MbarrierOperation::pending_count; }
};
inline MbarrierView as_mbarrier(const DecodedInstruction& i) {
    assert(i.kind == Kind::mbarrier);
    return {static_cast<MbarrierOperation>(i.mode), (i.offset & 1) != 0, (i.offset & 2) != 0, (i.offset & 4) != 0};
}
inline void put(DecodedInstruction& i, const MbarrierView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.offset = (v.expects ? 1 : 0) | (v.no_complete ? 2 : 0) | (v.parity ? 4 : 0);
}

// cp.async.bulk, cp.reduce.async.bulk with and without tensor maps, st.async, red.async. List:
//   copy, reduce           to, from, bytes {, mbarrier} {, mask of blocks}, or: to, from, bytes, mask of bytes
//   prefetch               from, bytes
//   tensor_load            to, map, coordinates, mbarrier {, mask of blocks} {, offsets}
//   tensor_store, _reduce  from, map, coordinates
//   tensor_prefetch        map, coordinates {, offsets}
//   store, red             to, mbarrier, values
// Offsets are those of im2col mode: a number for each dimension of a picture.
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
enum class BulkOperation : uint8_t { copy, add, min, max, inc, dec, and_, or_, xor_ };
struct BulkView {
    AsyncBulk operation = AsyncBulk::copy;
    BulkOperation combines = BulkOperation::copy;
    uint32_t rank = 0;       // dimensions of a tensor
    bool signals = false;    // tells an mbarrier
    bool multicast = false;  // goes to several blocks
    bool im2col = false;     // a tensor's pixels in im2col mode
    bool masked = false;     // only the bytes of a mask

    // Where things begin in the list.
    uint32_t map_at() const { return operation == AsyncBulk::tensor_prefetch ? 0 : 2; }
    uint32_t coordinates_at() const { return map_at() + 2; }
    uint32_t behind_coordinates() const { return coordinates_at() + rank; }
};
inline BulkView as_bulk(const DecodedInstruction& i) {
    assert(i.kind == Kind::bulk_copy);
    const auto flag = [&](unsigned n) { return (i.offset >> n & 1) != 0; };
    return {static_cast<AsyncBulk>(i.mode),
            static_cast<BulkOperation>(i.shape[1]),
            i.shape[0],
            flag(0),
            flag(1),
            flag(2),
            flag(3)};
}
inline void put(DecodedInstruction& i, const BulkView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.shape[0] = static_cast<uint16_t>(v.rank);
    i.shape[1] = static_cast<uint16_t>(v.combines);
    i.offset = (v.signals ? 1 : 0) | (v.multicast ? 2 : 0) | (v.im2col ? 4 : 0) | (v.masked ? 8 : 0);
}

// barrier.cluster; mapa, getctarank: source[0] the address, [1] the rank; destination[0]
enum class ClusterOperation : uint8_t { arrive, wait, map, rank };
struct ClusterView {
    ClusterOperation operation = ClusterOperation::arrive;
    bool shared_address = false;  // of shared::cluster, not generic
};
inline ClusterView as_cluster(const DecodedInstruction& i) {
    assert(i.kind == Kind::cluster);
    return {static_cast<ClusterOperation>(i.mode), (i.offset & 1) != 0};
}
inline void put(DecodedInstruction& i, const ClusterView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.offset = v.shared_address ? 1 : 0;
}

// tensormap.replace  list: the map, the new value;  tensormap.cp_fenceproxy  list: to, from
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
struct TensorMapView {
    TensorMapOperation operation = TensorMapOperation::replace;
    TensorMapField field = TensorMapField::global_address;
    uint32_t dimension = 0;
    bool is_wide() const { return field == TensorMapField::global_address || field == TensorMapField::global_stride; }
};
inline TensorMapView as_tensor_map(const DecodedInstruction& i) {
    assert(i.kind == Kind::tensor_map);
    return {static_cast<TensorMapOperation>(i.mode), static_cast<TensorMapField>(i.shape[0]), i.shape[1]};
}
inline void put(DecodedInstruction& i, const TensorMapView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.shape[0] = static_cast<uint16_t>(v.field);
    i.shape[1] = static_cast<uint16_t>(v.dimension);
}

// multimem.ld_reduce, st, red  address and offset as of a load; list: the registers, destinations of a load
enum class MultimemOperation : uint8_t { load, store, reduce };
struct MultimemView {
    MultimemOperation operation = MultimemOperation::load;
    AtomicOperation combines = AtomicOperation::add;  // load and reduce
};
inline MultimemView as_multimem(const DecodedInstruction& i) {
    assert(i.kind == Kind::multimem);
    return {static_cast<MultimemOperation>(i.mode), static_cast<AtomicOperation>(i.shape[0])};
}
inline void put(DecodedInstruction& i, const MultimemView& v) {
    i.mode = static_cast<uint8_t>(v.operation);
    i.shape[0] = static_cast<uint16_t>(v.combines);
}

}  // namespace lockstep::ptx
