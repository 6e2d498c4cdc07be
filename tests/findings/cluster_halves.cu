// Two blocks of a cluster read each other's shared memory between two barriers of the cluster.
// arch: sm_90
// run: --gpu h100 --grid 4 --cluster 2 --block 64 --arg in:f32[256] --arg out:f32[256] --check all
// quiet
#include <cooperative_groups.h>
__global__ void swap_halves(const float *in, float *out) {
    __shared__ float held[64];
    auto cluster = cooperative_groups::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    held[threadIdx.x] = in[i];
    cluster.sync();
    const float *other = cluster.map_shared_rank(held, cluster.block_rank() ^ 1);
    out[i] = other[63 - threadIdx.x];
    cluster.sync();
}
