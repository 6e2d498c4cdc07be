// C[M,N] = A[M,K] B[K,N] by mma.sync, row-major, 16-bit elements, sums in f32. Launch: (ceil(N/256), ceil(M/128)) blocks of 256, 147456 bytes of shared memory; N, K multiples of 8. arch: sm_80
//
// A block makes 128 x 256 of C from slices 64 deep, three of them in flight; each of 8 warps 64 x 64: 4 x 8 products a step of 16,
// from 4 + 4 reads of fragments, which are one step ahead of the products.
#include "ampere.h"

namespace {

constexpr int tile_m = 128, tile_n = 256, depth = 64, stages = 3, threads = 256, part = 64, steps = depth / 16;
constexpr int a_bytes = tile_m * depth * 2, stage_bytes = a_bytes + depth * tile_n * 2;
constexpr int group = 8;  // tile rows of blocks that follow each other

template <class T> __device__ void gemm_mma(const T* a, const T* b, T* c, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const int number = blockIdx.y * gridDim.x + blockIdx.x, band = number / (group * gridDim.x);
    const int height = min(gridDim.y - band * group, group), within = number % (group * gridDim.x);
    const int top = (band * group + within % height) * tile_m, left = within / height * tile_n;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp / 4 * part, right = warp % 4 * part;
    const int slices = (k + depth - 1) / depth;
    const unsigned shared = shared_address(memory);

    // A thread copies the same chunk of every 32nd row of A [128, 64] and of every 8th row of B [64, 256]; outside are zeros.
    const int a_row = top + threadIdx.x / 8, a_column = threadIdx.x % 8 * 8, b_row = warp, b_column = left + lane * 8;
    const unsigned to_a = shared + swizzled(threadIdx.x / 8, threadIdx.x % 8, 8), to_b = shared + a_bytes + swizzled(warp, lane, 32);
    const T *from_a = a + (long long)a_row * k + a_column, *from_b = b + (long long)b_row * n + b_column;
    const auto copy = [&](int slice) {
        const unsigned stage = slice % stages * stage_bytes;
        const int k0 = slice * depth;
#pragma unroll
        for (int i = 0; i < tile_m; i += 32) {
            const bool inside = a_row + i < m && k0 + a_column < k;
            copy_16(to_a + stage + i * 128, inside ? from_a + (long long)i * k + k0 : a, inside);
        }
#pragma unroll
        for (int i = 0; i < depth; i += 8) {
            const bool inside = k0 + b_row + i < k && b_column < n;
            copy_16(to_b + stage + i * 512, inside ? from_b + (long long)(k0 + i) * n : b, inside);
        }
    };

    unsigned of_a[2][4][4], of_b[2][4][4];
    float sum[4][8][4] = {};
    // Row lane % 16 of 16, chunk lane / 16 of 2: swizzled(row, chunk) with what does not change taken out.
    const unsigned a_from = shared + (down + lane % 16) * 128, b_from = shared + a_bytes + lane % 16 * 512 + right * 2;
    const unsigned key = (lane / 16 ^ lane % 8) * 16;
    const auto read = [&](int slice, int step, int i) {  // a quarter of a step's fragments: 16 rows of A, 16 columns of B
        const unsigned stage = slice % stages * stage_bytes;
        fragments(of_a[step % 2][i], a_from + stage + i * 2048 + (key ^ step * 32));
        fragments_transposed(of_b[step % 2][i], b_from + stage + step * 8192 + (key ^ i * 32));
    };
    for (int s = 0; s < stages - 1; ++s) {
        if (s < slices) copy(s);
        close_copies();
    }
    wait_for_copies<stages - 2>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) read(0, 0, i);
    for (int slice = 0; slice < slices; ++slice) {
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            if (step == steps - 1) {  // the next slice is there, and nobody reads this one any more
                wait_for_copies<stages - 2>();
                __syncthreads();
            }
            if (step == 0) {
                if (slice + stages - 1 < slices) copy(slice + stages - 1);
                close_copies();
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if (step < steps - 1 || slice + 1 < slices) read(slice + (step + 1) / steps, (step + 1) % steps, i);
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    multiply<T>(sum[i][j], of_a[step % 2][i], of_b[step % 2][j / 2][j % 2 * 2], of_b[step % 2][j / 2][j % 2 * 2 + 1]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = top + down + i * 16 + half * 8 + lane / 4;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const int column = left + right + j * 8 + lane % 4 * 2;
                if (row < m && column < n)
                    *reinterpret_cast<unsigned*>(c + (long long)row * n + column) = pair_of<T>(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
            }
        }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, 1) gemm_mma_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    gemm_mma<f16>(a, b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(threads, 1) gemm_mma_bf16(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
    gemm_mma<bf16>(a, b, c, m, n, k);
}
