// What kernels for tensor cores from sm_80 on share: copies that run ahead, fragments from shared memory, products.
//     f16, bf16           elements, as tags: two bytes (include/element.h)
//     copy_16             16 bytes from global to shared memory, or zeros
//     fragments           four 8 x 8 matrices; a lane names the address of one of their 32 rows
//     multiply<T>         a warp's d[16,8] += a[16,16] b[16,8]
// Rows in shared memory are `chunks` of 16 bytes; chunk c of row r lies at c ^ r % 8, so that eight rows of a column of chunks meet
// eight different groups of banks.
#pragma once
#include "../include/element.h"

__device__ inline unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline unsigned swizzled(int row, int chunk, int chunks) {  // bytes
    return (row * chunks + (chunk ^ row % 8)) * 16;
}

__device__ inline void copy_16(unsigned to, const void* from, bool there = true) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
__device__ inline void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int open> __device__ inline void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

__device__ inline void fragments(unsigned (&r)[4], unsigned row_address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row_address) : "memory");
}
__device__ inline void fragments_transposed(unsigned (&r)[4], unsigned row_address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row_address) : "memory");
}

template <class T> __device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
template <> __device__ inline void multiply<f16>(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <> __device__ inline void multiply<bf16>(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two neighbours in a word, the first in its low half.
template <class T> __device__ inline unsigned pair_of(float first, float second);
template <> __device__ inline unsigned pair_of<f16>(float first, float second) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}
template <> __device__ inline unsigned pair_of<bf16>(float first, float second) {
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}

__device__ inline float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
