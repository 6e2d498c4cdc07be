// Which blocks a cluster holds: blocks that are neighbours in the grid, x first; the rank counts them in the same order.
#include "core/simt/cluster.h"

#include <algorithm>

namespace lockstep::simt {

Dim3 cluster_of(const ptx::Program& program, const LaunchConfig& config) {
    const uint32_t* const required = program.required_cluster;
    const Dim3 size = required[0] ? Dim3{required[0], required[1], required[2]} : config.cluster;
    return {std::max(size.x, 1u), std::max(size.y, 1u), std::max(size.z, 1u)};
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

void join_cluster(const std::vector<Block*>& by_rank) {
    for (Block* block : by_rank) block->cluster = by_rank;
}

}  // namespace lockstep::simt
