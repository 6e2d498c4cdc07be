// Products of f16 matrices on tensor cores, C = A B row-major with either operand transposed, sums in f32: any M, N, K.
// The idea: four warps make a 32 x 32 tile of C, 16 x 16 each. They bring 32 x 32 halves of A and of B into shared memory, zeros
// beyond the edges, and wmma multiplies 16 x 16 by 16 x 16 at once: 4096 multiply-adds an instruction, where matmul.cu has 32.
// Rows of a tile are 40 halves apart, so that a fragment's rows meet different banks.
// Launch: grid (ceil(N/32), ceil(M/32)), block 128.  Elements from device memory: M N K (1/32 + 1/32) + M N.

#include "include/element.h"

struct Fragment { unsigned r[8]; };

__device__ inline Fragment load_a(const f16* tile) {
    Fragment f;
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 40;"
        : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3]), "=r"(f.r[4]), "=r"(f.r[5]), "=r"(f.r[6]), "=r"(f.r[7])
        : "l"(tile) : "memory");
    return f;
}
__device__ inline Fragment load_b(const f16* tile) {
    Fragment f;
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 40;"
        : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3]), "=r"(f.r[4]), "=r"(f.r[5]), "=r"(f.r[6]), "=r"(f.r[7])
        : "l"(tile) : "memory");
    return f;
}
__device__ inline void multiply(float* sum, const Fragment& a, const Fragment& b) {
    asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
        "{%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(a.r[4]), "r"(a.r[5]), "r"(a.r[6]), "r"(a.r[7]),
          "r"(b.r[0]), "r"(b.r[1]), "r"(b.r[2]), "r"(b.r[3]), "r"(b.r[4]), "r"(b.r[5]), "r"(b.r[6]), "r"(b.r[7]));
}
__device__ inline void store(float* tile, const float* sum) {
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;"
        :: "l"(tile), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]), "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7])
        : "memory");
}

// Element (i, j) is a[i * a_row + j * a_step] of A[M,K], b likewise of B[K,N]; neighbouring threads read neighbours in memory.
__device__ inline void product(const f16* a, const f16* b, f16* c, int m, int n, int k, int a_row, int a_step, int b_row,
                               int b_step) {
    __shared__ __align__(32) f16 a_tile[32 * 40];                               // [row, k]
    __shared__ __align__(32) f16 b_tile[32 * 40];                               // [k, column]
    __shared__ __align__(32) float c_tile[4][256];                              // of each warp
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    int down = warp / 2 * 16, right = warp % 2 * 16;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    f16 zero;
    zero.bits = 0;
    for (int k0 = 0; k0 < k; k0 += 32) {
        f16 from_a[8], from_b[8];                                                // all loads under way before the first is used
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

extern "C" __global__ void matmul_tc_nn_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, k, 1, n, 1);                                       // A[M,K] B[K,N]
}
extern "C" __global__ void matmul_tc_nt_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, k, 1, 1, k);                                       // A[M,K] B[N,K]
}
extern "C" __global__ void matmul_tc_tn_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, 1, m, n, 1);                                       // A[K,M] B[K,N]
}
