// C[M,N] = A[M,K] B[K,N] by wgmma and bulk tensor copies, row-major, 16-bit elements, sums in f32. Launch: an even number of blocks of 384 that the GPU holds at once, 229440 bytes of shared memory; N, K multiples of 8. arch: sm_90a
//
// The first warpgroup only copies: one thread keeps a ring of four slices (A 128 x 64, B 64 x 256) full. The other two multiply, 64 x 256
// of C each. Two blocks, a cluster, make two tiles of C one below the other: each brings half of B for both. Blocks stay: while
// a tile is stored, the ring fills with the next one's slices.
// Maps (rows x columns of a box, all with a swizzle of 128 bytes): A 128 x 64, B 64 x 64, C 64 x 64.
#include "hopper.h"

namespace {

constexpr int tile_m = 128, tile_n = 256, depth = 64, stages = 4, cluster = 2, threads = 384;
constexpr int a_bytes = tile_m * depth * 2, b_bytes = depth * tile_n * 2, stage_bytes = a_bytes + b_bytes;
constexpr int box_bytes = 64 * 64 * 2;
constexpr int stored = stages * stage_bytes;  // where two boxes of C of each warpgroup lie
constexpr int barriers = stored + 2 * 2 * box_bytes;
constexpr int group = 8;                      // rows of pairs of tiles that follow each other, for L2

struct Tiles {  // of C, in pairs one below the other
    int rows, columns;
    __device__ Tiles(int m, int n) : rows((m + 2 * tile_m - 1) / (2 * tile_m)), columns((n + tile_n - 1) / tile_n) {}
    __device__ int count() const { return rows * columns; }
    __device__ void place(int number, int& row, int& column) const {
        const int band = number / (group * columns), within = number % (group * columns), height = min(rows - band * group, group);
        row = band * group + within % height, column = within / height;
    }
};
struct Ring {  // a place in the ring, and which time round it is
    int stage = 0, phase = 0;
    __device__ void next() {
        if (++stage == stages) stage = 0, phase ^= 1;
    }
};

template <class T>
__device__ void gemm_wgmma(const TensorMap& a_map, const TensorMap& b_map, const TensorMap& c_map, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned shared = shared_address(memory);
    const Barrier full = shared + barriers, empty = full + 8 * stages;  // of each stage
    const int warpgroup = threadIdx.x / 128, lane = threadIdx.x % 32, rank = rank_in_cluster();
    const int slices = (k + depth - 1) / depth, first = blockIdx.x / cluster, step = gridDim.x / cluster;
    const Tiles tiles(m, n);
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) {
            make_barrier(full + 8 * s, 1);
            make_barrier(empty + 8 * s, cluster * 8);  // every warp that multiplies, of both blocks
        }
        show_barriers();
    }
    meet_cluster();
    Ring at;
    if (warpgroup == 0) {
        leave_registers<40>();
        if (__shfl_sync(~0u, threadIdx.x / 32, 0) == 0 && is_elected())
            for (int pair = first; pair < tiles.count(); pair += step) {
                int row, column;
                tiles.place(pair, row, column);
                const int top = (row * cluster + rank) * tile_m, left = column * tile_n;
                for (int slice = 0; slice < slices; ++slice, at.next()) {
                    const Barrier arrived = full + 8 * at.stage;
                    const unsigned to = shared + at.stage * stage_bytes;
                    wait(empty + 8 * at.stage, at.phase ^ 1);
                    expect(arrived, stage_bytes);
                    load(to, a_map, arrived, slice * depth, top);
                    for (int box = rank * 2; box < rank * 2 + 2; ++box)
                        load_to_all(to + a_bytes + box * box_bytes, b_map, arrived, left + box * 64, slice * depth, 3);
                }
            }
    } else {
        take_registers<232>();
        const int half = warpgroup - 1, warp = threadIdx.x / 32 % 4;  // of the tile; in the warpgroup
        const unsigned boxes = shared + stored + half * 2 * box_bytes;
        const auto release = [&](int stage) {
            if (lane < cluster) arrive_at(empty + 8 * stage, lane);
        };
        for (int pair = first; pair < tiles.count(); pair += step) {
            float d[tile_n / 2];
            const unsigned long long a = along(shared + half * box_bytes), b = across(shared + a_bytes, box_bytes);
            for (int slice = 0; slice < slices; ++slice, at.next()) {
                const unsigned there = at.stage * (stage_bytes / 16);  // addresses in descriptors count 16 bytes
                wait(full + 8 * at.stage, at.phase);
                begin_products();
#pragma unroll
                for (int i = 0; i < depth / 16; ++i)
                    multiply_across<T, tile_n>(d, a + there + i * 2, b + there + i * 128, slice + i > 0);
                close_products();
                if (slice == 0) continue;
                wait_for_products<1>();
                release(at.stage == 0 ? stages - 1 : at.stage - 1);
            }
            wait_for_products<0>();
            hold(d);
            release(at.stage == 0 ? stages - 1 : at.stage - 1);

            int row, column;
            tiles.place(pair, row, column);
            const int top = (row * cluster + rank) * tile_m + half * 64, left = column * tile_n;
#pragma unroll
            for (int part = 0; part < tile_n / 64; ++part) {  // 64 columns: through shared memory, two boxes in turn
                const unsigned box = boxes + part % 2 * box_bytes;
                if (threadIdx.x % 128 == 0) wait_for_stores<1>();
                meet(1 + half, 128);
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const float* const of = d + part * 32 + i * 8;
                    store_fragments(box + swizzled(warp * 16 + lane % 16, i * 2 + lane / 16, 8), pair_of<T>(of[0], of[1]),
                                    pair_of<T>(of[2], of[3]), pair_of<T>(of[4], of[5]), pair_of<T>(of[6], of[7]));
                }
                show_to_stores();
                meet(1 + half, 128);
                if (threadIdx.x % 128 == 0) {
                    store(c_map, box, left + part * 64, top);
                    close_stores();
                }
            }
        }
        if (threadIdx.x % 128 == 0) wait_for_stores<0>();
    }
    meet_cluster();  // nobody leaves while the other block may still arrive here
}

}  // namespace

#define MAPS const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c
extern "C" __global__ void __cluster_dims__(cluster) __launch_bounds__(threads, 1) gemm_wgmma_f16(MAPS, int m, int n, int k) {
    gemm_wgmma<f16>(a, b, c, m, n, k);
}
extern "C" __global__ void __cluster_dims__(cluster) __launch_bounds__(threads, 1) gemm_wgmma_bf16(MAPS, int m, int n, int k) {
    gemm_wgmma<bf16>(a, b, c, m, n, k);
}
