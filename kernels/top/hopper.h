// What kernels for Hopper share: barriers that count bytes, copies of boxes of tensors, products of a warpgroup.
//     TensorMap           a box of a tensor that one thread copies: `const __grid_constant__`, made by the host
//     Barrier             in shared memory: a phase ends when all arrivals and all announced bytes are there
//     load, store         a box into shared memory, and out of it; of a cluster's blocks all in `mask` get it
//     multiply<T, N>      d[64,N] += a[64,16] b[16,N] of a warpgroup; B in shared memory, A there or in registers
// A row of a box has 128 bytes, and its chunks of 16 are swizzled by the row, as in ampere.h.
#pragma once
#include "ampere.h"

struct alignas(64) TensorMap { unsigned char bytes[128]; };
typedef unsigned Barrier;  // its address in shared memory

__device__ inline void make_barrier(Barrier b, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(arrivals) : "memory");
}
__device__ inline void show_barriers() {  // to the copies and to the cluster
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void expect(Barrier b, int bytes) {  // arrives, too
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ inline void arrive(Barrier b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
// The same barrier of another block of the cluster. What it orders are copies' writes behind products' reads, so it needs no wider
// scope than its own: with .cluster it would wait for all memory of the thread.
__device__ inline void arrive_at(Barrier b, int rank) {
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(b), "r"(rank) : "memory");
}
__device__ inline void wait(Barrier b, int phase) {
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(b), "r"(phase) : "memory");
}

__device__ inline void load(unsigned to, const TensorMap& map, Barrier b, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(b) : "memory");
}
__device__ inline void load(unsigned to, const TensorMap& map, Barrier b, int x, int y, int z) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(b) : "memory");
}
__device__ inline void load_to_all(unsigned to, const TensorMap& map, Barrier b, int x, int y, unsigned short mask) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(b), "h"(mask) : "memory");
}
__device__ inline void store(const TensorMap& map, unsigned from, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
}
__device__ inline void store(const TensorMap& map, unsigned from, int x, int y, int z) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(&map), "r"(x), "r"(y), "r"(z), "r"(from) : "memory");
}
__device__ inline void close_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int open> __device__ inline void wait_for_stores() {  // until their sources may be written again
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(open) : "memory");
}
__device__ inline void show_to_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void meet(int number, int threads) {  // of some warps of the block
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
__device__ inline bool is_elected() {  // one lane of a whole warp, and the compiler knows that it is one
    unsigned yes;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
    return yes;
}
__device__ inline int rank_in_cluster() {
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
template <int registers> __device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers> __device__ inline void leave_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

__device__ inline void store_fragments(unsigned row_address, unsigned r0, unsigned r1, unsigned r2, unsigned r3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(row_address), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}

// Matrices in shared memory, as products take them; bytes. `along` k: rows of 64 elements of k, 8 of them 1024 bytes. `across`: rows
// are k, of 64 columns; `next` from 64 columns to the next 64.
__device__ inline unsigned long long along(unsigned at) {
    return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ inline unsigned long long across(unsigned at, int next) {
    return (at & 0x3ffff) >> 4 | (unsigned long long)(next >> 4) << 16 | 64ull << 32 | 1ull << 62;
}
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void close_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int open> __device__ inline void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(open) : "memory");
}
// Nobody moves what products under way hold across this place.
template <int n> __device__ inline void hold(float (&d)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define REGISTERS_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_128 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// T, N columns, B's layout; `keep`: 0 forgets what d held. The registers of d come first: %0 and on.
template <class T, int N> __device__ inline void multiply_along(float (&d)[N / 2], unsigned long long a, unsigned long long b, int keep);
template <class T, int N> __device__ inline void multiply_across(float (&d)[N / 2], unsigned long long a, unsigned long long b, int keep);
template <class T, int N> __device__ inline void multiply_registers_across(float (&d)[N / 2], const unsigned (&a)[4], unsigned long long b, int keep);
#define MULTIPLY_ACROSS_256(T) \
    template <> __device__ inline void multiply_across<T, 256>(float (&d)[128], unsigned long long a, unsigned long long b, int keep) { \
        asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n256k16.f32." #T "." #T " {" REGISTERS_128 "}, %128, %129, keep, 1, 1, 0, 1;\n}" \
                     : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112) \
                     : "l"(a), "l"(b), "r"(keep)); \
    }
MULTIPLY_ACROSS_256(f16)
MULTIPLY_ACROSS_256(bf16)
#define MULTIPLY_ALONG_128(T) \
    template <> __device__ inline void multiply_along<T, 128>(float (&d)[64], unsigned long long a, unsigned long long b, int keep) { \
        asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32." #T "." #T " {" REGISTERS_64 "}, %64, %65, keep, 1, 1, 0, 0;\n}" \
                     : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48) \
                     : "l"(a), "l"(b), "r"(keep)); \
    }
MULTIPLY_ALONG_128(f16)
MULTIPLY_ALONG_128(bf16)
#define MULTIPLY_REGISTERS_ACROSS_64(T) \
    template <> __device__ inline void multiply_registers_across<T, 64>(float (&d)[32], const unsigned (&a)[4], unsigned long long b, int keep) { \
        asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %37, 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32." #T "." #T " {" REGISTERS_32 "}, {%32, %33, %34, %35}, %36, keep, 1, 1, 1;\n}" \
                     : SIXTEEN(0), SIXTEEN(16) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep)); \
    }
MULTIPLY_REGISTERS_ACROSS_64(f16)
MULTIPLY_REGISTERS_ACROSS_64(bf16)
#define MULTIPLY_REGISTERS_ACROSS_128(T) \
    template <> __device__ inline void multiply_registers_across<T, 128>(float (&d)[64], const unsigned (&a)[4], unsigned long long b, int keep) { \
        asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %69, 0;\n" \
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32." #T "." #T " {" REGISTERS_64 "}, {%64, %65, %66, %67}, %68, keep, 1, 1, 1;\n}" \
                     : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48) \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep)); \
    }
MULTIPLY_REGISTERS_ACROSS_128(f16)
MULTIPLY_REGISTERS_ACROSS_128(bf16)
