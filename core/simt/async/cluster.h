// Clusters: which blocks they hold, and where an address of shared::cluster lies. A driver calls make_block for each block
// and joins them (join_cluster); an address of shared::cluster has the block's rank + 1 above 24 bits of offset. Internal to
// core/simt.
#pragma once
#include "core/simt/warp.h"

namespace lockstep::simt {

// %clusterid, %cluster_ctaid and %cluster_ctarank of the block at `index`.
Dim3 cluster_index(const Grid& grid, const Dim3& index);
Dim3 index_in_cluster(const Grid& grid, const Dim3& index);
uint32_t rank_in_cluster(const Grid& grid, const Dim3& index);
uint64_t cluster_register(const Block& block, ptx::SpecialRegister which);  // %clusterid.x and its like

// The blocks of the cluster that holds the block, by rank and joined, ready for their first instruction; of a launch without
// clusters that block alone. `rank`: its place among them. They stay where they are: no copies.
std::vector<Block> make_cluster_of(Grid& grid, uint32_t linear_index, uint32_t& rank);

// Whether a launch's clusters are possible; nothing when they are.
std::optional<Diagnostic> check_cluster(const ptx::Program&, const LaunchConfig&, const LaunchLimits&);

struct SharedPlace {         // in some block's shared memory
    Block* block = nullptr;  // null: the cluster has no such block, or it is not here
    uint64_t offset = 0;
};

// `address` of .shared::cluster (or of .shared): a plain offset is in the block's own memory.
inline SharedPlace shared_place(Block& block, uint64_t address) {
    const uint64_t above = address >> 24;
    if (above == 0) return {&block, address};
    if (above > ptx::most_cluster_blocks) return {nullptr, address};
    const uint64_t offset = address & (ptx::window_bytes - 1);
    if (above - 1 == block.rank) return {&block, offset};
    if (above - 1 >= block.cluster.size()) return {nullptr, address};
    return {block.cluster[above - 1], offset};
}

// The host pointer to `bytes` bytes there, or null.
inline std::byte* shared_pointer(const SharedPlace& place, uint64_t bytes) {
    if (!place.block || bytes > place.block->shared.size() || place.offset > place.block->shared.size() - bytes)
        return nullptr;
    return place.block->shared.data() + place.offset;
}

// The lanes leave for good; what they have begun is finished. Called when a warp ends.
void finish_async(Warp& warp);

}  // namespace lockstep::simt
