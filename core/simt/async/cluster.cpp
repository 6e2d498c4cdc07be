// Which blocks a cluster holds: blocks that are neighbours in the grid, x first; the rank counts them in the same order.
// And what they do together: barrier.cluster, addresses in one another's shared memory.
#include "core/simt/async/cluster.h"

#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views_async.h"
#include "core/simt/async/async_work.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"

namespace lockstep::simt {

Dim3 cluster_of(const ptx::Program& program, const LaunchConfig& config) {
    const uint32_t* const required = program.required_cluster;
    const Dim3 size = required[0] ? Dim3{required[0], required[1], required[2]} : config.cluster;
    return {std::max(size.x, 1u), std::max(size.y, 1u), std::max(size.z, 1u)};
}

std::optional<Diagnostic> check_cluster(const ptx::Program& program, const LaunchConfig& config,
                                        const LaunchLimits& limits) {
    const auto extent = [](const Dim3& d) {
        return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
    };
    const auto refuse = [](std::string message) { return Diagnostic{std::move(message)}; };
    const Dim3 size = cluster_of(program, config), grid = config.grid;
    if (config.cluster.count() == 0)
        return refuse("a cluster of " + extent(config.cluster) + " has no blocks: each of its sizes must be at least 1");
    if (config.cluster.count() > 1 && !(config.cluster == size))
        return refuse("a cluster of " + extent(config.cluster) + " blocks does not fit " + program.shown_name() +
                      ": it asks for clusters of " + extent(size));
    const uint32_t most = program.max_cluster_blocks ? std::min(program.max_cluster_blocks, limits.blocks_per_cluster)
                                                     : limits.blocks_per_cluster;
    const uint64_t plane = uint64_t{size.x} * size.y;
    const uint64_t count = plane > UINT32_MAX ? plane : plane * size.z;
    if (count > most)
        return refuse("a cluster of " + std::to_string(count) + " blocks is too large: at most " + std::to_string(most));
    if (grid.x % size.x || grid.y % size.y || grid.z % size.z)
        return refuse("a grid of " + extent(grid) + " blocks is no multiple of the cluster, " + extent(size));
    return std::nullopt;
}

Dim3 cluster_index(const Grid& grid, const Dim3& index) {
    return {index.x / grid.cluster.x, index.y / grid.cluster.y, index.z / grid.cluster.z};
}

Dim3 index_in_cluster(const Grid& grid, const Dim3& index) {
    return {index.x % grid.cluster.x, index.y % grid.cluster.y, index.z % grid.cluster.z};
}

uint32_t rank_in_cluster(const Grid& grid, const Dim3& index) {
    const Dim3 at = index_in_cluster(grid, index);
    return at.x + grid.cluster.x * (at.y + grid.cluster.y * at.z);
}

uint64_t cluster_register(const Block& block, ptx::SpecialRegister which) {
    const Grid& grid = *block.grid;
    const Dim3 at = cluster_index(grid, block.index), inside = index_in_cluster(grid, block.index);
    const Dim3 extent = grid.config->grid, size = grid.cluster;
    switch (which) {
        case ptx::SpecialRegister::clusterid_x:
            return at.x;
        case ptx::SpecialRegister::clusterid_y:
            return at.y;
        case ptx::SpecialRegister::clusterid_z:
            return at.z;
        case ptx::SpecialRegister::nclusterid_x:
            return extent.x / size.x;
        case ptx::SpecialRegister::nclusterid_y:
            return extent.y / size.y;
        case ptx::SpecialRegister::nclusterid_z:
            return extent.z / size.z;
        case ptx::SpecialRegister::cluster_ctaid_x:
            return inside.x;
        case ptx::SpecialRegister::cluster_ctaid_y:
            return inside.y;
        case ptx::SpecialRegister::cluster_ctaid_z:
            return inside.z;
        case ptx::SpecialRegister::cluster_nctaid_x:
            return size.x;
        case ptx::SpecialRegister::cluster_nctaid_y:
            return size.y;
        case ptx::SpecialRegister::cluster_nctaid_z:
            return size.z;
        case ptx::SpecialRegister::cluster_ctarank:
            return block.rank;
        case ptx::SpecialRegister::cluster_nctarank:
            return size.count();
        case ptx::SpecialRegister::is_explicit_cluster:
            return grid.program->explicit_cluster || grid.program->required_cluster[0] || size.count() > 1;
        default:
            return 0;
    }
}

uint32_t linear_in_cluster(const Grid& grid, uint32_t cluster, uint32_t rank) {
    const Dim3 extent = grid.config->grid, size = grid.cluster;
    const uint32_t across = std::max(1u, extent.x / size.x), along = std::max(1u, extent.y / size.y);  // clusters
    const Dim3 index{cluster % across * size.x + rank % size.x, cluster / across % along * size.y + rank / size.x % size.y,
                     cluster / across / along * size.z + rank / size.x / size.y};
    return index.x + extent.x * (index.y + extent.y * index.z);
}

std::vector<Block> make_cluster_of(Grid& grid, uint32_t linear_index, uint32_t& rank) {
    const uint32_t size = cluster_size(grid);
    std::vector<Block> blocks(size);
    rank = 0;
    if (size == 1) {
        reset_block(blocks[0], grid, linear_index);
        return blocks;
    }
    const Dim3 extent = grid.config->grid, shape = grid.cluster;
    const Dim3 index{linear_index % extent.x, linear_index / extent.x % extent.y, linear_index / extent.x / extent.y};
    rank = rank_in_cluster(grid, index);
    const Dim3 place = cluster_index(grid, index);
    const uint32_t cluster = place.x + extent.x / shape.x * (place.y + extent.y / shape.y * place.z);
    std::vector<Block*> by_rank;
    for (uint32_t r = 0; r < size; ++r) {
        reset_block(blocks[r], grid, linear_in_cluster(grid, cluster, r));
        by_rank.push_back(&blocks[r]);
    }
    join_cluster(by_rank);
    return blocks;
}

void join_cluster(const std::vector<Block*>& by_rank) {
    for (Block* block : by_rank) block->cluster = by_rank;
}

void finish_async(Warp& warp) {
    Block& block = *warp.block;
    if (!block.async.warps.empty()) write_copies(warp, full_mask, any_group);
    if (block.async.bulk.empty()) return;
    for (uint32_t lane = 0; lane < warp_size; ++lane) write_bulk(block, warp.index * warp_size + lane, any_group);
}

namespace {

// Answers the arrivals at the cluster's barrier when all its threads that are left have arrived.
void answer_if_full(Block& block) {
    Block* const alone[] = {&block};
    const bool together = !block.cluster.empty();
    Block* const* const first = together ? block.cluster.data() : alone;
    Block* const* const last = together ? first + block.cluster.size() : alone + 1;
    for (Block* const* peer = first; peer != last; ++peer)
        for (const Warp& warp : (*peer)->warps)
            if (~warp.exited & ~warp.cluster_arrived) return;
    for (Block* const* peer = first; peer != last; ++peer)
        for (Warp& warp : (*peer)->warps) warp.cluster_arrived = 0;
}

Fault* map_address(Special& s, bool shared_address) {
    const ptx::DecodedInstruction& instruction = s.instruction();
    const bool wide = ptx::size_of(instruction.type) == 8;
    const bool rank_only = ptx::as_cluster(instruction).operation == ptx::ClusterOperation::rank;
    const std::byte* const from = operand(s.warp, instruction.source[0]);
    alignas(64) uint64_t results[warp_size];
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        uint64_t address = 0;
        std::memcpy(&address, from + lane * (wide ? 8 : 4), wide ? 8 : 4);
        const uint64_t base = shared_address ? 0 : ptx::shared_window;
        if (address - base >= ptx::cluster_window_bytes)
            return make_fault(s.warp, s.pc, lane, "memcheck",
                              std::string(rank_only ? "getctarank" : "mapa") + " of an address that is not in shared memory",
                              address);
        const uint64_t above = (address - base) >> 24;
        if (rank_only) {
            results[lane] = above ? above - 1 : s.warp.block->rank;
            continue;
        }
        const uint32_t rank = words(s.warp, instruction.source[1])[lane];
        const uint32_t size = cluster_size(*s.warp.block->grid);
        if (rank >= size)
            return make_fault(s.warp, s.pc, lane, "memcheck",
                              "mapa to block " + std::to_string(rank) + " of a cluster of " + std::to_string(size) +
                                  (size == 1 ? " block" : " blocks"),
                              address);
        results[lane] = base + ((uint64_t{rank} + 1) << 24) + (address & (ptx::window_bytes - 1));
    }
    write_lanes(operand(s.warp, instruction.destination[0]), rank_only ? 4 : wide ? 8 : 4, results, s.mask);
    return nullptr;
}

}  // namespace

Fault* run_cluster(Special& s) {
    Warp& warp = s.warp;
    const auto [operation, shared_address] = ptx::as_cluster(s.instruction());
    const auto complain = [&](uint32_t lanes, const char* why) {
        return make_fault(warp, s.pc, static_cast<uint32_t>(__builtin_ctz(lanes)), "synccheck", why);
    };
    const Block& first = warp.block->cluster.empty() ? *warp.block : *warp.block->cluster[0];
    const uint64_t token = uint64_t{1} << 62 | first.linear;
    switch (operation) {
        case ptx::ClusterOperation::arrive:
            note_release(warp, s.mask, token);
            if (const uint32_t twice = warp.cluster_owes & s.mask)
                return complain(twice, "barrier.cluster.arrive a second time without barrier.cluster.wait between");
            warp.cluster_arrived |= s.mask;
            warp.cluster_owes |= s.mask;
            answer_if_full(*warp.block);
            return nullptr;
        case ptx::ClusterOperation::wait:
            if (const uint32_t never = s.mask & ~warp.cluster_owes)
                return complain(never, "barrier.cluster.wait without barrier.cluster.arrive before");
            if (warp.cluster_arrived & s.mask) answer_if_full(*warp.block);
            warp.blocked = (warp.cluster_arrived & s.mask) != 0;
            s.again = s.ends_turn = warp.blocked;
            if (!warp.blocked) {
                warp.cluster_owes &= ~s.mask;
                note_acquire(warp, s.mask, token);
            }
            return nullptr;
        default:
            return map_address(s, shared_address);
    }
}

}  // namespace lockstep::simt
