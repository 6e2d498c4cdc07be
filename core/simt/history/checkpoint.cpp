// Pages are compared when a checkpoint is made: the executor knows nothing of checkpoints and pays nothing for them.
#include "core/simt/history/checkpoint.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/simt/execute/call.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

namespace {

constexpr size_t memory_page = 4096, block_page = 512;

bool all_zero(const std::byte* data, size_t bytes) {
    static constexpr std::byte zeros[64] = {};
    for (; bytes >= sizeof zeros; data += sizeof zeros, bytes -= sizeof zeros)
        if (std::memcmp(data, zeros, sizeof zeros) != 0) return false;
    return bytes == 0 || std::memcmp(data, zeros, bytes) == 0;
}

std::byte* registers_begin(const Block& block) {
    return block.warps.empty() || block.registers.size() < 64 ? nullptr : kernel_registers(block.warps[0]);
}

}  // namespace

Page::Page(const std::byte* data, size_t bytes, PageCount count)
    : data_(new std::byte[bytes]), bytes_(bytes + sizeof(Page) + 16), count_(std::move(count)) {
    std::memcpy(data_.get(), data, bytes);
    *count_ += bytes_;
}
Page::~Page() {
    *count_ -= bytes_;
}

Pages::Pages(const std::byte* data, size_t bytes, size_t page_bytes, const Pages* earlier, const PageCount& count)
    : bytes_(bytes), page_bytes_(page_bytes) {
    pages_.resize((bytes + page_bytes - 1) / page_bytes);
    const bool comparable = earlier != nullptr && earlier->bytes_ == bytes && earlier->page_bytes_ == page_bytes;
    for (size_t i = 0; i < pages_.size(); ++i) {
        const std::byte* const from = data + i * page_bytes;
        const size_t size = std::min(page_bytes, bytes - i * page_bytes);
        const Page* const before = comparable ? earlier->pages_[i].get() : nullptr;
        if (before != nullptr && std::memcmp(before->data(), from, size) == 0)
            pages_[i] = earlier->pages_[i];
        else if (!all_zero(from, size))
            pages_[i] = std::make_shared<const Page>(from, size, count);
    }
}

void Pages::copy_to(std::byte* data) const {
    for (size_t i = 0; i < pages_.size(); ++i) {
        const size_t size = std::min(page_bytes_, bytes_ - i * page_bytes_);
        if (pages_[i])
            std::memcpy(data + i * page_bytes_, pages_[i]->data(), size);
        else
            std::memset(data + i * page_bytes_, 0, size);
    }
}

BlockCheckpoint save(const Block& block, const BlockCheckpoint* earlier, const PageCount& count) {
    BlockCheckpoint to;
    to.linear = block.linear;
    to.sm = block.sm;
    to.rank = block.rank;
    to.local_bytes = block.local_bytes;
    to.warps_done = block.warps_done;
    to.warps_at_barrier = block.warps_at_barrier;
    to.index = block.index;
    to.arrived = block.arrived;
    to.clock = block.clock;
    to.ahead = block.ahead;
    to.async = block.async;
    to.warps = block.warps;
    const auto pages = [&](const std::byte* data, size_t bytes, const Pages BlockCheckpoint::*which) {
        return Pages(data, bytes, block_page, earlier != nullptr ? &(earlier->*which) : nullptr, count);
    };
    to.shared = pages(block.shared.data(), block.shared.size(), &BlockCheckpoint::shared);
    to.local = pages(block.local.data(), block.local.size(), &BlockCheckpoint::local);
    if (const std::byte* const registers = registers_begin(block))
        to.registers = pages(registers, block.registers.size() - 64, &BlockCheckpoint::registers);
    return to;
}

void restore(Block& block, const BlockCheckpoint& from) {
    block.linear = from.linear;
    block.sm = from.sm;
    block.rank = from.rank;
    block.local_bytes = from.local_bytes;
    block.warps_done = from.warps_done;
    block.warps_at_barrier = from.warps_at_barrier;
    block.index = from.index;
    block.arrived = from.arrived;
    block.clock = from.clock;
    block.ahead = from.ahead;
    block.async = from.async;
    block.cluster.clear();
    block.warps = from.warps;
    block.shared.resize(from.shared.size());
    from.shared.copy_to(block.shared.data());
    block.local.resize(from.local.size());
    from.local.copy_to(block.local.data());
    block.registers.resize(from.registers.size() + 64);
    for (Warp& warp : block.warps) warp.block = &block;
    if (std::byte* const registers = registers_begin(block)) from.registers.copy_to(registers);
    for (Warp& warp : block.warps) follow_frame(warp);
}

uint64_t bytes_of(const BlockCheckpoint& checkpoint) {
    uint64_t bytes = sizeof checkpoint + checkpoint.shared.table_bytes() + checkpoint.registers.table_bytes() +
                     checkpoint.local.table_bytes() + checkpoint.warps.capacity() * sizeof(Warp);
    for (const Warp& warp : checkpoint.warps) {
        bytes += warp.stack.capacity() * sizeof(StackEntry) + warp.waits.capacity() * sizeof(PathWait);
        bytes += warp.watch.registers.capacity() + warp.watch.stack.capacity() * sizeof(StackEntry) +
                 warp.watch.target.capacity() + warp.watch.target_addresses.capacity() * 8;
        for (const CallFrame& frame : warp.frames) bytes += sizeof frame + frame.registers.capacity() * sizeof(RegisterLine);
    }
    const AsyncWork& async = checkpoint.async;
    for (const WarpCopies& copies : async.warps) bytes += sizeof copies + copies.copies.capacity() * sizeof(LaneCopies);
    for (const BulkCopy& copy : async.bulk)
        bytes += sizeof copy + copy.runs.capacity() * sizeof copy.runs[0] + copy.data.capacity();
    return bytes + async.arrivals.capacity() * sizeof(LateArrival) + async.bulk_groups.capacity() * 4 +
           async.mbarriers.capacity() * sizeof(MbarrierPlace);
}

MemoryCheckpoint Memory::save(const MemoryCheckpoint* earlier, const PageCount& count) const {
    MemoryCheckpoint to;
    if (earlier != nullptr && earlier->table->version == version()) {
        to.table = earlier->table;
    } else {
        auto table = std::make_shared<MemoryCheckpoint::Table>();
        table->version = version();
        table->textures = textures_;
        table->multicasts = multicasts_;
        for (const auto& [address, a] : allocations_)
            table->allocations.emplace(
                address, Allocation{a.address, a.bytes, a.name, a.freed, Contents(), a.module, nullptr, a.heap, a.maker});
        table->freed = freed_;
        table->next = next_;
        table->live = live_;
        table->heap = heap_;
        table->heap_limit = heap_limit_;
        to.table = std::move(table);
    }
    for (const auto& [address, a] : allocations_) {
        if (a.freed) continue;
        const Pages* before = nullptr;
        if (earlier != nullptr)
            if (const auto found = earlier->contents.find(address); found != earlier->contents.end())
                before = &found->second;
        to.contents.emplace(address, Pages(a.contents.data(), a.bytes, memory_page, before, count));
    }
    return to;
}

void Memory::restore(const MemoryCheckpoint& from) {
    std::map<uint64_t, Allocation> allocations = from.table->allocations;
    for (auto& [address, a] : allocations) {
        if (a.freed) continue;
        const auto mine = allocations_.find(address);
        if (mine != allocations_.end() && mine->second.contents && !mine->second.contents.shared() &&
            mine->second.contents.size() == a.bytes)
            a.contents = std::move(mine->second.contents);
        else
            a.contents = Contents(a.bytes);
        assert(from.contents.contains(address));
        from.contents.at(address).copy_to(a.contents.data());
    }
    allocations_ = std::move(allocations);
    textures_ = from.table->textures;
    multicasts_ = from.table->multicasts;
    freed_ = from.table->freed;
    next_ = from.table->next;
    live_ = from.table->live;
    heap_ = from.table->heap;
    heap_limit_ = from.table->heap_limit;
    any_unwritten_ = false;
    version_.renew();
}

uint64_t bytes_of(const MemoryCheckpoint& checkpoint) {
    uint64_t bytes = sizeof checkpoint;
    for (const auto& [address, pages] : checkpoint.contents) bytes += 96 + pages.table_bytes();
    return bytes + checkpoint.table->allocations.size() * (sizeof(Allocation) + 64);
}

}  // namespace lockstep::simt
