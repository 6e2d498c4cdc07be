// Products of f16 matrices on tensor cores: C = A B with either operand transposed, sums in f32 (include/tensor_tile.h).
// Launch: grid (ceil(N/32), ceil(M/32)), block 128.  Elements from device memory: M N K (1/32 + 1/32) + M N.

#include "include/tensor_tile.h"

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
extern "C" __global__ void matmul_tc_nn_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, k, 1, n, 1);                                       // A[M,K] B[K,N]
}
extern "C" __global__ void matmul_tc_nt_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, k, 1, 1, k);                                       // A[M,K] B[N,K]
}
extern "C" __global__ void matmul_tc_tn_f16(const f16* a, const f16* b, f16* c, int m, int n, int k) {
    product(a, b, c, m, n, k, 1, m, n, 1);                                       // A[K,M] B[K,N]
}
