// Cooperative groups: the block, tiles of it, sums over them, the lanes that run together, the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"
namespace cg = cooperative_groups;

template <int Size>
__device__ int tile_sum(cg::thread_block_tile<Size> tile, int value) {
    for (int by = tile.size() / 2; by > 0; by /= 2) value += tile.shfl_down(value, by);
    return value;
}

__global__ void tiles(int* sums, int* reduced, int* odd) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    const int rank = static_cast<int>(block.thread_rank());
    const int sum = tile_sum<8>(tile, rank);
    if (tile.thread_rank() == 0) sums[rank / 8] = sum;
    const auto warp = cg::tiled_partition<32>(block);
    const int most = cg::reduce(warp, rank, cg::greater<int>());
    if (warp.thread_rank() == 0) reduced[warp.meta_group_rank()] = most;
    if (rank % 2) {
        const cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(odd, static_cast<int>(active.size()));
    }
    cg::sync(block);
}

// Groups whose size only the run knows, and those that a label or a condition makes of a warp.
__global__ void parts(int* sizes, int* labelled, int* odd) {
    const cg::thread_group part = cg::tiled_partition(cg::this_thread_block(), 16);
    const int i = static_cast<int>(threadIdx.x);
    sizes[i] = static_cast<int>(100 * part.size() + part.thread_rank());
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto same = cg::labeled_partition(warp, i % 3);
    labelled[i] = static_cast<int>(100 * same.size() + same.thread_rank());
    const auto half = cg::binary_partition(warp, i % 2 == 1);
    odd[i] = static_cast<int>(100 * half.size() + half.thread_rank());
}

__global__ void two_phases(int* data, int* out, int n) {
    const cg::grid_group grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    data[i] = i * i;
    grid.sync();
    out[i] = data[n - 1 - i];
}

int main() {
    int *d, h[16];
    CHECK(cudaMalloc(&d, 16 * sizeof(int)));
    CHECK(cudaMemset(d, 0, 16 * sizeof(int)));
    tiles<<<1, 64>>>(d, d + 8, d + 10);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 8; ++t) EXPECT(h[t] == 64 * t + 28);
    EXPECT(h[8] == 31 && h[9] == 63 && h[10] == 32);
    CHECK(cudaFree(d));

    int *d_parts, parts_of[96];
    CHECK(cudaMalloc(&d_parts, sizeof parts_of));
    parts<<<1, 32>>>(d_parts, d_parts + 32, d_parts + 64);
    CHECK(cudaMemcpy(parts_of, d_parts, sizeof parts_of, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) {
        EXPECT(parts_of[i] == 1600 + i % 16);
        EXPECT(parts_of[32 + i] == (i % 3 < 2 ? 1100 : 1000) + i / 3);
        EXPECT(parts_of[64 + i] == 1600 + i / 2);
    }
    CHECK(cudaFree(d_parts));

    int n = 256, *data, *out, host[256];
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    CHECK(cudaMalloc(&out, n * sizeof(int)));
    void* arguments[] = {&data, &out, &n};
    CHECK(cudaLaunchCooperativeKernel((void*)two_phases, dim3(4), dim3(64), arguments, 0, 0));
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EXPECT(host[i] == (n - 1 - i) * (n - 1 - i));
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    return pass();
}
