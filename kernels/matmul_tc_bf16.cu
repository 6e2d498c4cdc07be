// Products of bf16 matrices on tensor cores, which have them since Ampere: matmul_tc.cu's, of the other 16-bit float. arch: sm_80
// Launch: grid (ceil(N/32), ceil(M/32)), block 128.  Elements from device memory: M N K (1/32 + 1/32) + M N.

#include "include/tensor_tile.h"

struct Fragment { unsigned r[4]; };

__device__ inline Fragment load_a(const bf16* tile) {
    Fragment f;
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%0,%1,%2,%3}, [%4], 40;"
        : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3]) : "l"(tile) : "memory");
    return f;
}
__device__ inline Fragment load_b(const bf16* tile) {
    Fragment f;
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.bf16 {%0,%1,%2,%3}, [%4], 40;"
        : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3]) : "l"(tile) : "memory");
    return f;
}
__device__ inline void multiply(float* sum, const Fragment& a, const Fragment& b) {
    asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
        "{%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3,%4,%5,%6,%7};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]), "r"(b.r[2]), "r"(b.r[3]));
}

extern "C" __global__ void matmul_tc_nn_bf16(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, k, 1, n, 1);                                       // A[M,K] B[K,N]
}
extern "C" __global__ void matmul_tc_nt_bf16(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, k, 1, 1, k);                                       // A[M,K] B[N,K]
}
extern "C" __global__ void matmul_tc_tn_bf16(const bf16* a, const bf16* b, bf16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, 1, m, n, 1);                                       // A[K,M] B[K,N]
}
