// cp.async: copies of 4, 8 or 16 bytes a lane from global to shared memory, in groups that each thread closes and waits
// for. The bytes are read here and written by write_copies when somebody waits for them.
#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views_async.h"
#include "core/simt/async/async_work.h"
#include "core/simt/async/listed.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

namespace {
constexpr size_t most_copies = 512;  // of a warp; beyond it the older half is written at once
}

void AsyncWork::clear() {
    for (WarpCopies& warp : warps) {
        std::fill(std::begin(warp.committed), std::end(warp.committed), 0u);
        warp.serial = 0;
        warp.copies.clear();
    }
    arrivals.clear();
    bulk.clear();
    bulk_groups.clear();
    mbarriers.clear();
    bulk_bytes = 0;
}

WarpCopies& copies_of(Warp& warp) {
    AsyncWork& async = warp.block->async;
    if (async.warps.size() != warp.block->warps.size()) async.warps.resize(warp.block->warps.size());
    return async.warps[warp.index];
}

namespace {

void write(Warp& warp, const LaneCopies& copy, uint32_t lanes) {
    uint64_t addresses[warp_size];
    std::byte* const shared = warp.block->shared.data();
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        addresses[lane] = copy.to[lane];
        std::byte* const to = shared + copy.to[lane];
        if (copy.bytes == 16)  // sizes that the compiler knows
            std::memcpy(to, copy.data[lane], 16);
        else if (copy.bytes == 8)
            std::memcpy(to, copy.data[lane], 8);
        else
            std::memcpy(to, copy.data[lane], 4);
    }
    note_access(warp, copy.pc, ptx::Space::shared, addresses, lanes, copy.bytes, AccessKind::write);
}

}  // namespace

int64_t write_copies(Warp& warp, uint32_t lanes, uint32_t keep, uint64_t serial) {
    AsyncWork& async = warp.block->async;
    if (warp.index >= async.warps.size()) return 0;
    WarpCopies& work = async.warps[warp.index];
    int64_t ready = 0;
    bool ended = false;
    for (LaneCopies& copy : work.copies) {
        if (copy.serial > serial) break;
        uint32_t due = copy.lanes & lanes;
        if (keep != any_group) {
            for (uint32_t rest = due; rest; rest &= rest - 1) {
                const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
                if (uint64_t{copy.group[lane]} + keep >= work.committed[lane]) due &= ~(1u << lane);
            }
        }
        if (!due) continue;
        write(warp, copy, due);
        ready = std::max(ready, copy.ready);
        copy.lanes &= ~due;
        ended |= copy.lanes == 0;
    }
    if (ended) std::erase_if(work.copies, [](const LaneCopies& copy) { return copy.lanes == 0; });
    return ready;
}

void set_ready(Warp& warp, uint32_t pc, int64_t cycle) {
    Block& block = *warp.block;
    if (warp.index < block.async.warps.size() && !block.async.warps[warp.index].copies.empty()) {
        LaneCopies& last = block.async.warps[warp.index].copies.back();
        if (last.pc == pc && last.ready == 0) last.ready = cycle;
    }
    const auto set = [&](Block& keeper) {
        for (size_t i = keeper.async.bulk.size(); i-- > 0 && keeper.async.bulk[i].ready == 0;) {
            BulkCopy& copy = keeper.async.bulk[i];
            if (copy.pc == pc && copy.rank == block.rank) copy.ready = cycle;
        }
    };
    set(block);
    for (Block* const peer : block.cluster)
        if (peer != &block) set(*peer);
}

Fault* run_async_copy(Special& s) {
    const ptx::DecodedInstruction& instruction = s.instruction();
    const ptx::AsyncCopyView view = ptx::as_async_copy(instruction);
    const Listed list(s);
    WarpCopies& work = copies_of(s.warp);
    if (work.copies.size() >= most_copies) {
        const auto middle = work.copies.begin() + most_copies / 2;
        for (auto copy = work.copies.begin(); copy != middle; ++copy) write(s.warp, *copy, copy->lanes);
        work.copies.erase(work.copies.begin(), middle);
    }
    const uint32_t bytes = view.bytes;
    uint32_t ignored = 0;
    if (view.source == ptx::AsyncCopy::ignores_source) ignored = list.predicate(view.limit) ^ (view.negated ? full_mask : 0);
    LaneCopies& copy = work.copies.emplace_back();  // all zero: what a smaller source leaves
    copy.pc = s.pc;
    copy.bytes = bytes;
    copy.lanes = s.mask;
    copy.serial = ++work.serial;
    const auto failed = [&](Fault* fault) {
        work.copies.pop_back();
        return fault;
    };
    s.access.space = ptx::Space::global;
    const Listed::Addresses to = list.addresses(view.to), from = list.addresses(view.from);
    Block& block = *s.warp.block;
    Grid& grid = *block.grid;
    const uint64_t room = block.shared.size() < bytes ? 0 : block.shared.size() - bytes + 1;
    uint32_t reading = 0, whole = 0;  // lanes that read anything, all of it
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        uint64_t offset = to[lane];
        if (offset >= room || (offset & (bytes - 1))) {  // another block's, or a fault
            SharedPlace place;
            std::byte* pointer = nullptr;
            if (Fault* fault = shared_at(s, lane, ptx::Space::shared, offset, {bytes, bytes, true}, place, pointer))
                return failed(fault);
            if (place.block != &block)
                return failed(make_fault(s.warp, s.pc, lane, "memcheck",
                                         "cp.async writes to the shared memory of its own block alone", offset));
            offset = place.offset;
        }
        uint32_t wanted = ignored >> lane & 1 ? 0 : bytes;
        if (view.source == ptx::AsyncCopy::limits_source) wanted = list.word(4, lane);
        if (wanted > bytes)
            return failed(make_fault(s.warp, s.pc, lane, "memcheck",
                                     "cp.async of " + std::to_string(bytes) + " bytes with a source of " +
                                         std::to_string(wanted) + " bytes: it may not be larger"));
        copy.to[lane] = static_cast<uint32_t>(offset);
        copy.group[lane] = work.committed[lane];
        const uint64_t address = s.access.addresses[lane] = from[lane];
        if (!wanted) continue;
        const MemoryWindow& window = grid.windows[s.pc];
        const uint64_t inside = address - window.begin;
        std::byte* source = nullptr;
        if (window.version == grid.memory->version() && wanted <= window.bytes && inside <= window.bytes - wanted &&
            (address & (bytes - 1)) == 0)
            source = window.data + inside;
        else if (Fault* fault = global_at(s, lane, address, {wanted, bytes}, source))
            return failed(fault);
        reading |= 1u << lane;
        if (wanted == bytes) {
            whole |= 1u << lane;
            if (bytes == 16)  // sizes that the compiler knows
                std::memcpy(copy.data[lane], source, 16);
            else if (bytes == 8)
                std::memcpy(copy.data[lane], source, 8);
            else
                std::memcpy(copy.data[lane], source, 4);
        } else {
            std::memcpy(copy.data[lane], source, wanted);
            note_access(s.warp, s.pc, ptx::Space::global, s.access.addresses, 1u << lane, wanted, AccessKind::read);
        }
    }
    if (whole) note_access(s.warp, s.pc, ptx::Space::global, s.access.addresses, whole, bytes, AccessKind::read);
    s.is_memory = reading != 0;
    s.lanes = reading;
    s.bytes = bytes;
    return nullptr;
}

Fault* run_async_wait(Special& s) {
    const ptx::AsyncWaitView view = ptx::as_async_wait(s.instruction());
    WarpCopies& work = copies_of(s.warp);
    const auto close_group = [&] {
        for (uint32_t rest = s.mask; rest; rest &= rest - 1) ++work.committed[__builtin_ctz(rest)];
    };
    switch (view.operation) {
        case ptx::AsyncWait::commit_group:
            close_group();
            return nullptr;
        case ptx::AsyncWait::wait_all:
            close_group();
            s.until = write_copies(s.warp, s.mask, any_group);
            return nullptr;
        case ptx::AsyncWait::arrive:
        case ptx::AsyncWait::arrive_no_increment:
            return arrive_after_copies(s);
        default:
            s.until = write_copies(s.warp, s.mask, static_cast<uint32_t>(std::min<int64_t>(view.pending, any_group - 1)));
            return nullptr;
    }
}

}  // namespace lockstep::simt
