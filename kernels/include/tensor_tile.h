// A product of matrices of 16-bit floats on tensor cores, C = A B row-major with either operand transposed, sums in f32: any M,
// N, K. Four warps make a 32 x 32 tile of C, 16 x 16 each. They bring 32 x 32 elements of A and of B into shared memory, zeros
// beyond the edges, and wmma multiplies 16 x 16 by 16 x 16 at once: 4096 multiply-adds an instruction, where matmul.cu has 32.
// Rows of a tile are 40 elements apart, so that a fragment's rows meet different banks. Whoever includes this says with
// load_a(), load_b() and multiply() what a Fragment of its type T is.
#pragma once
#include "element.h"

__device__ inline void store(float* tile, const float* sum) {
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;"
        :: "l"(tile), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]), "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7])
        : "memory");
}

// Element (i, j) is a[i * a_row + j * a_step] of A[M,K], b likewise of B[K,N]; neighbouring threads read neighbours in memory.
template <class T>
__device__ inline void product(const T* a, const T* b, T* c, int m, int n, int k, int a_row, int a_step, int b_row,
                               int b_step) {
    __shared__ __align__(32) T a_tile[32 * 40];                               // [row, k]
    __shared__ __align__(32) T b_tile[32 * 40];                               // [k, column]
    __shared__ __align__(32) float c_tile[4][256];                              // of each warp
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    int down = warp / 2 * 16, right = warp % 2 * 16;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    T zero;
    zero.bits = 0;
    for (int k0 = 0; k0 < k; k0 += 32) {
        T from_a[8], from_b[8];                                                // all loads under way before the first is used
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            int slow = warp + 4 * e, i = a_step == 1 ? slow : lane, j = a_step == 1 ? lane : slow;
            from_a[e] = zero;
            if (row0 + i < m && k0 + j < k) from_a[e] = a[(row0 + i) * a_row + (k0 + j) * a_step];
            i = b_step == 1 ? slow : lane, j = b_step == 1 ? lane : slow;
            from_b[e] = zero;
            if (k0 + i < k && column0 + j < n) from_b[e] = b[(k0 + i) * b_row + (column0 + j) * b_step];
        }
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            int slow = warp + 4 * e;
            a_tile[a_step == 1 ? slow * 40 + lane : lane * 40 + slow] = from_a[e];
            b_tile[b_step == 1 ? slow * 40 + lane : lane * 40 + slow] = from_b[e];
        }
        __syncthreads();
        for (int part = 0; part < 32; part += 16)
            multiply(sum, load_a(a_tile + down * 40 + part), load_b(b_tile + part * 40 + right));
        __syncthreads();
    }
    store(c_tile[warp], sum);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        int i = row0 + down + e / 16, j = column0 + right + e % 16;
        if (i < m && j < n) c[i * n + j] = c_tile[warp][e];                      // C[M,N]
    }
}
