// The beginning of bulk copies: cp.async.bulk, cp.reduce.async.bulk, their tensor forms, st.async and red.async. Each lane
// makes a copy of its own: its source is read and its destination checked here; bulk_write.cpp ends it.
#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views_async.h"
#include "core/simt/async/async_work.h"
#include "core/simt/async/listed.h"
#include "core/simt/async/tensor_map.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

namespace {

using ptx::AsyncBulk;
using ptx::Space;

constexpr size_t most_pending = 4096;              // copies that a block keeps
constexpr uint64_t most_pending_bytes = 16 << 20;  // of them

struct Bulk {
    Special& s;
    const ptx::DecodedInstruction& instruction;
    const ptx::BulkView view;
    const Listed list;
    std::vector<uint64_t>& sectors;
    uint32_t lane = 0;

    Fault* fault(const std::string& why, uint64_t address = 0) const {
        return make_fault(s.warp, s.pc, lane, "memcheck", why, address);
    }
    BulkCopy begin() const {
        BulkCopy copy;
        Block& block = *s.warp.block;
        copy.pc = s.pc;
        copy.thread = s.warp.index * warp_size + lane;
        copy.rank = block.rank;
        if (!block.async.bulk_groups.empty()) copy.group = block.async.bulk_groups[copy.thread];
        copy.operation = view.combines;
        copy.type = instruction.type;
        return copy;
    }
    void note(Space space, uint64_t address, uint64_t bytes) {
        uint64_t addresses[warp_size] = {};
        addresses[lane] = address;
        note_access(s.warp, s.pc, space, addresses, 1u << lane, static_cast<uint32_t>(bytes), AccessKind::read);
        if (space == Space::global) touch(address, bytes);
    }
    void touch(uint64_t address, uint64_t bytes) {
        for (uint64_t at = address / 32 * 32; at < address + bytes; at += 32) sectors.push_back(at);
    }
    Fault* keep(Block& block, BulkCopy&& copy);
    Fault* keep_for_cluster(BulkCopy&& copy, const SharedPlace& to, uint32_t mbarrier, uint32_t mask);
    Fault* mbarrier_at(uint32_t entry, SharedPlace& place);
    Fault* copy_bytes(bool reduces);
    Fault* tensor(bool loads);
    Fault* store_values();
};

// Puts the copy among the block's pending ones. Those of groups may be written at any time, so the older half of them makes
// room; where they are few among many that somebody has to test for, there is none.
Fault* Bulk::keep(Block& block, BulkCopy&& copy) {
    AsyncWork& async = block.async;
    const auto of_group = [](const BulkCopy& c) { return c.mbarrier == no_mbarrier; };
    while (async.bulk.size() >= most_pending || async.bulk_bytes + copy.data.size() > most_pending_bytes) {
        const auto grouped = static_cast<size_t>(std::count_if(async.bulk.begin(), async.bulk.end(), of_group));
        if (grouped == 0 || (async.bulk.size() > most_pending / 8 && grouped < async.bulk.size() / 8))
            return fault("too many asynchronous copies whose mbarriers nobody tests: more than " +
                         std::to_string(async.bulk.size() - grouped) + " are pending in this block");
        size_t due = (grouped + 1) / 2;
        std::erase_if(async.bulk, [&](const BulkCopy& old) {
            if (due == 0 || !of_group(old)) return false;
            --due;
            write(block, old);
            async.bulk_bytes -= old.data.size();
            return true;
        });
    }
    async.bulk_bytes += copy.data.size();
    async.bulk.push_back(std::move(copy));
    return nullptr;
}

// The same copy for each block of `mask` (0: the one of `to`), at the same offsets.
Fault* Bulk::keep_for_cluster(BulkCopy&& copy, const SharedPlace& to, uint32_t mbarrier, uint32_t mask) {
    copy.mbarrier = mbarrier;
    if (!mask) return keep(*to.block, std::move(copy));
    Block& own = *s.warp.block;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto rank = static_cast<uint32_t>(__builtin_ctz(rest));
        Block* const peer = rank == own.rank ? &own : rank < own.cluster.size() ? own.cluster[rank] : nullptr;
        if (!peer)
            return fault("the mask of a multicast names block " + std::to_string(rank) + " of a cluster of " +
                         std::to_string(cluster_size(*own.grid)) + " blocks");
        if (Fault* bad = check_mbarrier(s, lane, *peer, mbarrier)) return bad;
        BulkCopy again = copy;
        if (Fault* bad = keep(*peer, std::move(again))) return bad;
    }
    return nullptr;
}

Fault* Bulk::mbarrier_at(uint32_t entry, SharedPlace& place) {
    std::byte* pointer = nullptr;
    if (Fault* bad = shared_at(s, lane, list.space(entry), list.address(entry, lane), {8, 8, true, true}, place, pointer))
        return bad;
    return check_mbarrier(s, lane, *place.block, place.offset);
}

// Leaves of each 16 bytes of the copy those whose bit is set in `mask`.
void keep_masked(BulkCopy& copy, uint32_t mask) {
    const BulkCopy::Run whole = copy.runs[0];
    std::vector<std::byte> data;
    copy.runs.clear();
    for (uint32_t at = 0; at < whole.bytes; ++at) {
        if (!(mask >> at % 16 & 1)) continue;
        data.push_back(copy.data[at]);
        if (!copy.runs.empty() && copy.runs.back().to + copy.runs.back().bytes == whole.to + at)
            ++copy.runs.back().bytes;
        else
            copy.runs.push_back({whole.to + at, 1});
    }
    copy.data = std::move(data);
}

Fault* Bulk::copy_bytes(bool reduces) {
    const uint32_t bytes = list.word(4, lane);
    if (bytes == 0) return nullptr;
    if (bytes % 16) return fault("a bulk copy moves a multiple of 16 bytes, not " + std::to_string(bytes));
    BulkCopy copy = begin();
    const Space from_space = list.space(2), to_space = list.space(0);
    const uint64_t from = list.address(2, lane), to = list.address(0, lane);
    std::byte* source = nullptr;
    SharedPlace from_place, to_place, mbarrier;
    if (from_space == Space::shared) {
        if (Fault* bad = shared_at(s, lane, Space::shared, from, {bytes, 16}, from_place, source)) return bad;
        if (from_place.block != s.warp.block)
            return fault("the source of a bulk copy is its own block's shared memory", from);
    } else {
        if (Fault* bad = global_at(s, lane, from, {bytes, 16}, source)) return bad;
    }
    copy.data.assign(source, source + bytes);
    note(from_space, from_space == Space::shared ? from_place.offset : from, bytes);
    copy.space = to_space;
    copy.runs.push_back({to, bytes});
    std::byte* destination = nullptr;
    if (to_space == Space::global) {
        if (Fault* bad = global_at(s, lane, to, {bytes, 16, true, reduces}, destination)) return bad;
        if (view.masked) keep_masked(copy, list.half(5, lane));
        for (const BulkCopy::Run& run : copy.runs) touch(run.to, run.bytes);
        return keep(*s.warp.block, std::move(copy));
    }
    if (Fault* bad = shared_at(s, lane, Space::shared, to, {bytes, 16, true, reduces}, to_place, destination)) return bad;
    if (Fault* bad = mbarrier_at(5, mbarrier)) return bad;
    if (mbarrier.block != to_place.block)
        return fault("the mbarrier of a bulk copy must be in the same block's shared memory as its destination", to);
    copy.runs[0].to = to_place.offset;
    copy.signalled = bytes;
    const bool multicast = view.multicast;
    const uint32_t mask = multicast ? list.half(7, lane) : 0;
    return keep_for_cluster(std::move(copy), to_place, static_cast<uint32_t>(mbarrier.offset), mask);
}

// A generic address of 128 bytes that make_tensor_map made: a parameter, or global memory.
Fault* layout_at(const Bulk& bulk, uint64_t address, TensorLayout& layout) {
    const Grid& grid = *bulk.s.warp.block->grid;
    const uint64_t offset = address - ptx::param_window;
    const std::byte* bytes = nullptr;
    if (offset < ptx::window_bytes) {
        if (offset + 128 <= grid.config->parameters.size()) bytes = grid.config->parameters.data() + offset;
    } else {
        bytes = grid.memory->read(address, 128);
    }
    if (!bytes) return access_fault(bulk.s.warp, bulk.s.pc, bulk.lane, Space::global, address, 128, false, false);
    if (address % 64) return bulk.fault("the address of a tensor map is a multiple of 64", address);
    const auto read = read_tensor_map(bytes);
    if (!read) return bulk.fault("these 128 bytes are no tensor map of this machine's make", address);
    layout = *read;
    return nullptr;
}

// The pixel behind this one: along the box's rows, through its planes, then the next image's.
void next_pixel(const TensorLayout& layout, int64_t (&pixel)[5]) {
    for (uint32_t d = 1; d < layout.rank; ++d) {
        pixel[d] += layout.element_strides[d];
        if (d + 1 == layout.rank || pixel[d] <= layout.last[d]) return;
        pixel[d] = layout.first[d];
    }
}

Fault* Bulk::tensor(bool loads) {
    const AsyncBulk mode = view.operation;
    const bool prefetch = mode == AsyncBulk::tensor_prefetch;
    const uint32_t map = view.map_at(), rank = view.rank;
    TensorLayout layout;
    if (Fault* bad = layout_at(*this, list.address(map, lane), layout)) return bad;
    if (layout.rank != rank)
        return fault("a copy of " + std::to_string(rank) + " dimensions with a tensor map of " +
                     std::to_string(layout.rank));
    const bool pictures = view.im2col, multicast = view.multicast;
    if (layout.im2col != pictures)
        return fault(pictures ? "a copy in im2col mode with a tensor map that was not made for it"
                              : "a copy of a box with a tensor map for im2col mode");
    int64_t start[5] = {}, moved[5] = {};  // moved: the offsets of im2col mode
    for (uint32_t d = 0; d < rank; ++d) start[d] = static_cast<int32_t>(list.word(map + 2 + d, lane));
    if (pictures && (loads || prefetch))
        for (uint32_t d = 1; d + 1 < rank; ++d) moved[d] = list.half(map + 1 + rank + (loads ? 2 + multicast : 0) + d, lane);
    BulkCopy copy = begin();
    const uint64_t box_bytes = layout.box_bytes();
    SharedPlace inside, mbarrier;
    std::byte* box = nullptr;  // in shared memory
    if (prefetch && box_bytes > 256 * 1024) return fault("a box larger than shared memory");
    const uint32_t align = layout.swizzle == TensorSwizzle::none ? 16 : 128;
    if (!prefetch) {
        const Touch touched{static_cast<uint32_t>(std::min<uint64_t>(box_bytes, UINT32_MAX)), align, loads};
        if (Fault* bad = shared_at(s, lane, Space::shared, list.address(0, lane), touched, inside, box)) return bad;
        if (!loads && inside.block != s.warp.block)
            return fault("the source of a bulk copy is its own block's shared memory", list.address(0, lane));
        // A swizzle moves pieces within rows of 128 bytes: the box must hold whole ones.
        if (layout.swizzle != TensorSwizzle::none &&
            inside.offset + (box_bytes + 127) / 128 * 128 > inside.block->shared.size())
            return fault("a swizzled box needs whole rows of 128 bytes in shared memory", inside.offset);
    }
    const uint64_t pieces = layout.swizzle == TensorSwizzle::none ? box_bytes : (box_bytes + 127) / 128 * 128;
    if (loads) {
        if (Fault* bad = mbarrier_at(map + 2 + rank, mbarrier)) return bad;
        if (mbarrier.block != inside.block)
            return fault("the mbarrier of a bulk copy must be in the same block's shared memory as its destination");
        copy.data.assign(box, box + pieces);  // what a swizzle of a short box does not touch stays
        copy.space = Space::shared;
        copy.runs.push_back({inside.offset, static_cast<uint32_t>(pieces)});
        copy.signalled = static_cast<uint32_t>(box_bytes);
    } else if (!prefetch) {
        note(Space::shared, inside.offset, pieces);
        // Reductions take their type from the map.
        constexpr ptx::Type types[] = {ptx::Type::b32, ptx::Type::b32, ptx::Type::u32, ptx::Type::s32, ptx::Type::u64,
                                       ptx::Type::s64, ptx::Type::f16, ptx::Type::f32, ptx::Type::f64, ptx::Type::bf16,
                                       ptx::Type::f32, ptx::Type::f32, ptx::Type::f32};
        copy.type = types[static_cast<size_t>(layout.type)];
        if (mode == AsyncBulk::tensor_reduce && layout.element_bytes < 4 && copy.type == ptx::Type::b32)
            return fault("a tensor of 8- or 16-bit integers cannot be reduced into");
    }
    const uint64_t fill = layout.fill_bits(), element = layout.element_bytes;
    const uint32_t inner = pictures ? layout.channels : layout.count(0);
    uint64_t rows = pictures ? layout.pixels : 1;
    if (!pictures)
        for (uint32_t d = 1; d < rank; ++d) rows *= layout.count(d);
    int64_t pixel[5];  // im2col: the row's
    std::copy(std::begin(start), std::end(start), pixel);
    for (uint64_t row = 0; row < rows; ++row) {
        uint64_t rest = row, address = layout.address;
        bool there = true;  // in the tensor
        for (uint32_t d = 1; d < rank; ++d) {
            int64_t at = pixel[d] + moved[d];
            if (!pictures) {
                at = start[d] + static_cast<int64_t>(rest % layout.count(d)) * layout.element_strides[d];
                rest /= layout.count(d);
            }
            there = there && at >= 0 && static_cast<uint64_t>(at) < layout.dims[d];
            address += static_cast<uint64_t>(at) * layout.strides[d];
        }
        if (pictures) next_pixel(layout, pixel);
        // Elements [first, last) of the row are in the tensor.
        const auto end = static_cast<int64_t>(layout.dims[0]) - start[0];
        const auto first = static_cast<uint64_t>(std::clamp<int64_t>(-start[0], 0, inner));
        const auto last = std::max(first, static_cast<uint64_t>(std::clamp<int64_t>(end, 0, inner)));
        const uint64_t bytes = there ? (last - first) * element : 0;
        const uint64_t from = address + static_cast<uint64_t>(start[0] + static_cast<int64_t>(first)) * element;
        std::byte* memory = nullptr;
        if (bytes) {
            const Touch touched{static_cast<uint32_t>(bytes), 1, !loads && !prefetch, mode == AsyncBulk::tensor_reduce};
            if (Fault* bad = global_at(s, lane, from, touched, memory)) return bad;
            touch(from, bytes);
        }
        if (prefetch) continue;
        if (loads && bytes) note(Space::global, from, bytes);
        const uint64_t base = inside.offset + row * inner * element;
        if (loads) {
            for (uint64_t k = 0; k < inner; ++k) {
                const bool real = bytes && k >= first && k < last;
                const uint64_t at = swizzled(base + k * element, layout.swizzle) - inside.offset;
                std::memcpy(copy.data.data() + at,
                            real ? memory + (k - first) * element : reinterpret_cast<const std::byte*>(&fill), element);
            }
        } else if (bytes) {
            copy.runs.push_back({from, static_cast<uint32_t>(bytes)});
            for (uint64_t k = first; k < last; ++k) {
                const std::byte* const at = box + (swizzled(base + k * element, layout.swizzle) - inside.offset);
                copy.data.insert(copy.data.end(), at, at + element);
            }
        }
    }
    if (prefetch) return nullptr;
    if (!loads) return keep(*s.warp.block, std::move(copy));
    const uint32_t mask = multicast ? list.half(map + 4 + rank, lane) : 0;
    return keep_for_cluster(std::move(copy), inside, static_cast<uint32_t>(mbarrier.offset), mask);
}

Fault* Bulk::store_values() {
    const auto element = static_cast<uint32_t>(ptx::size_of(instruction.type));
    const uint32_t bytes = element * instruction.vector;
    const bool reduces = view.operation == AsyncBulk::red;
    SharedPlace to, mbarrier;
    std::byte* pointer = nullptr;
    if (Fault* bad = shared_at(s, lane, Space::shared, list.address(0, lane), {bytes, bytes, true, reduces}, to, pointer))
        return bad;
    if (Fault* bad = mbarrier_at(2, mbarrier)) return bad;
    if (mbarrier.block != to.block)
        return fault("the mbarrier of an asynchronous store must be in the same block's shared memory as its destination");
    BulkCopy copy = begin();
    copy.space = Space::shared;
    copy.runs.push_back({to.offset, bytes});
    copy.signalled = bytes;
    copy.data.resize(bytes);
    for (uint32_t k = 0; k < instruction.vector; ++k) {
        const uint64_t value = element == 8 ? list.wide(4 + k, lane) : list.word(4 + k, lane);
        std::memcpy(copy.data.data() + k * element, &value, element);
    }
    return keep_for_cluster(std::move(copy), to, static_cast<uint32_t>(mbarrier.offset), 0);
}

}  // namespace

Fault* run_bulk_copy(Special& s) {
    thread_local std::vector<uint64_t> sectors;
    sectors.clear();
    s.sectors = &sectors;
    Bulk bulk{s, s.instruction(), ptx::as_bulk(s.instruction()), Listed(s), sectors};
    const AsyncBulk mode = bulk.view.operation;
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        bulk.lane = static_cast<uint32_t>(__builtin_ctz(rest));
        Fault* fault = nullptr;
        switch (mode) {
            case AsyncBulk::copy:
            case AsyncBulk::reduce:
                fault = bulk.copy_bytes(mode == AsyncBulk::reduce);
                break;
            case AsyncBulk::store:
            case AsyncBulk::red:
                fault = bulk.store_values();
                break;
            case AsyncBulk::prefetch: {
                std::byte* pointer = nullptr;
                fault =
                    global_at(s, bulk.lane, bulk.list.address(0, bulk.lane), {bulk.list.word(2, bulk.lane), 16}, pointer);
                break;
            }
            default:
                fault = bulk.tensor(mode == AsyncBulk::tensor_load);
        }
        if (fault) return fault;
    }
    // The event names the first 32 sectors of global memory as one access; WarpEvent::sectors has all of them.
    const auto named = static_cast<uint32_t>(std::min<size_t>(sectors.size(), warp_size));
    if (!named) return nullptr;
    s.access.space = Space::global;
    for (uint32_t i = 0; i < named; ++i) s.access.addresses[i] = sectors[i];
    s.is_memory = true;
    s.is_store = mode == AsyncBulk::tensor_store || mode == AsyncBulk::tensor_reduce || bulk.list.space(0) == Space::global;
    s.lanes = named == warp_size ? full_mask : (1u << named) - 1;
    s.bytes = 32;
    return nullptr;
}

}  // namespace lockstep::simt
