// What kernels find on the device: built-in variables, barriers, votes and shuffles, atomics, integers, and with the headers
// that it includes mathematics and textures. For lockstep_cuda.h (kernels alone) and lockstep_program.h (whole programs, where
// LOCKSTEP_PROGRAM is defined and the host's own functions of the same names stand beside these). LOCKSTEP_DEVICE and the
// vector types are defined before.
#pragma once

#ifdef LOCKSTEP_PROGRAM
#define LOCKSTEP_BOTH_SIDES static __inline__ __attribute__((always_inline, nodebug, host, device))
#else
#define LOCKSTEP_BOTH_SIDES LOCKSTEP_DEVICE
#endif

// ---- built-in variables: reading a member reads a special register
#define LOCKSTEP_INDEX(type, variable, register_name)                                                 \
    struct type {                                                                                     \
        __declspec(property(get = get_x)) unsigned x;                                                 \
        __declspec(property(get = get_y)) unsigned y;                                                 \
        __declspec(property(get = get_z)) unsigned z;                                                 \
        static __inline__ __attribute__((always_inline, nodebug, device)) unsigned get_x() {                   \
            return __nvvm_read_ptx_sreg_##register_name##_x();                                        \
        }                                                                                             \
        static __inline__ __attribute__((always_inline, nodebug, device)) unsigned get_y() {                   \
            return __nvvm_read_ptx_sreg_##register_name##_y();                                        \
        }                                                                                             \
        static __inline__ __attribute__((always_inline, nodebug, device)) unsigned get_z() {                   \
            return __nvvm_read_ptx_sreg_##register_name##_z();                                        \
        }                                                                                             \
        __attribute__((device)) operator dim3() const { return dim3(get_x(), get_y(), get_z()); }     \
    };                                                                                                \
    extern const __attribute__((device, weak)) type variable;
LOCKSTEP_INDEX(lockstep_thread_index, threadIdx, tid)
LOCKSTEP_INDEX(lockstep_block_index, blockIdx, ctaid)
LOCKSTEP_INDEX(lockstep_block_shape, blockDim, ntid)
LOCKSTEP_INDEX(lockstep_grid_shape, gridDim, nctaid)
#undef LOCKSTEP_INDEX
__attribute__((device)) const int warpSize = 32;

// ---- barriers and fences. clang believes that its own barriers leave alone what only one file uses, and would move reads
// of a shared variable across them; a statement that touches all memory stands beside each, so that it does not.
#define LOCKSTEP_ALL_MEMORY asm volatile("" ::: "memory")
LOCKSTEP_DEVICE void lockstep_syncthreads() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() lockstep_syncthreads()
#define LOCKSTEP_BARRIER(result, name, parameters, call) \
    LOCKSTEP_DEVICE result name parameters {             \
        LOCKSTEP_ALL_MEMORY;                             \
        result value = call;                             \
        LOCKSTEP_ALL_MEMORY;                             \
        return value;                                    \
    }
LOCKSTEP_BARRIER(int, __syncthreads_count, (int p), __nvvm_bar0_popc(p))
LOCKSTEP_BARRIER(int, __syncthreads_and, (int p), __nvvm_bar0_and(p))
LOCKSTEP_BARRIER(int, __syncthreads_or, (int p), __nvvm_bar0_or(p))
#undef LOCKSTEP_BARRIER
LOCKSTEP_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) {
    LOCKSTEP_ALL_MEMORY;
    __nvvm_bar_warp_sync(mask);
    LOCKSTEP_ALL_MEMORY;
}
LOCKSTEP_DEVICE void __threadfence_block() {
    LOCKSTEP_ALL_MEMORY;
    __nvvm_membar_cta();
    LOCKSTEP_ALL_MEMORY;
}
LOCKSTEP_DEVICE void __threadfence() {
    LOCKSTEP_ALL_MEMORY;
    __nvvm_membar_gl();
    LOCKSTEP_ALL_MEMORY;
}

// ---- warp votes and shuffles
LOCKSTEP_DEVICE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p != 0); }
LOCKSTEP_DEVICE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p != 0); }
LOCKSTEP_DEVICE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p != 0); }
LOCKSTEP_DEVICE unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
LOCKSTEP_DEVICE unsigned __match_any_sync(unsigned mask, unsigned value) {
    unsigned same;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(value), "r"(mask));
    return same;
}
LOCKSTEP_DEVICE unsigned __match_all_sync(unsigned mask, unsigned value, int* p) {
    unsigned same;
    asm volatile("{ .reg .pred q; match.all.sync.b32 %0|q, %2, %3; selp.s32 %1, 1, 0, q; }"
                 : "=r"(same), "=r"(*p)
                 : "r"(value), "r"(mask));
    return same;
}
// The last operand packs the sub-warp's width and the lane at which a shuffle stops.
#define LOCKSTEP_SHUFFLE(name, mode, second, stop)                                                                  \
    LOCKSTEP_DEVICE int name(unsigned mask, int value, second b, int width = 32) {                                  \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, b, ((32 - width) << 8) | stop);                           \
    }                                                                                                               \
    LOCKSTEP_DEVICE unsigned name(unsigned mask, unsigned value, second b, int width = 32) {                        \
        return (unsigned)__nvvm_shfl_sync_##mode##_i32(mask, (int)value, b, ((32 - width) << 8) | stop);            \
    }                                                                                                               \
    LOCKSTEP_DEVICE float name(unsigned mask, float value, second b, int width = 32) {                              \
        return __nvvm_shfl_sync_##mode##_f32(mask, value, b, ((32 - width) << 8) | stop);                           \
    }                                                                                                               \
    LOCKSTEP_DEVICE double name(unsigned mask, double value, second b, int width = 32) {                            \
        long long bits = __builtin_bit_cast(long long, value);                                                      \
        unsigned low = name(mask, (unsigned)bits, b, width), high = name(mask, (unsigned)(bits >> 32), b, width);   \
        return __builtin_bit_cast(double, ((unsigned long long)high << 32) | low);                                  \
    }
LOCKSTEP_SHUFFLE(__shfl_sync, idx, int, 31)
LOCKSTEP_SHUFFLE(__shfl_up_sync, up, unsigned, 0)
LOCKSTEP_SHUFFLE(__shfl_down_sync, down, unsigned, 31)
LOCKSTEP_SHUFFLE(__shfl_xor_sync, bfly, int, 31)
#undef LOCKSTEP_SHUFFLE

// ---- atomics: return what was there before
LOCKSTEP_DEVICE int atomicAdd(int* p, int v) { return __nvvm_atom_add_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicAdd(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int*)p, (int)v); }
LOCKSTEP_DEVICE unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) {
    return (unsigned long long)__nvvm_atom_add_gen_ll((long long*)p, (long long)v);
}
LOCKSTEP_DEVICE double atomicAdd(double* p, double v) {
    double old;
    asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(p), "d"(v) : "memory");
    return old;
}
LOCKSTEP_DEVICE unsigned atomicInc(unsigned* p, unsigned last) {
    unsigned old;
    asm volatile("atom.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(last) : "memory");
    return old;
}
LOCKSTEP_DEVICE unsigned atomicDec(unsigned* p, unsigned last) {
    unsigned old;
    asm volatile("atom.dec.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(last) : "memory");
    return old;
}
LOCKSTEP_DEVICE float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
LOCKSTEP_DEVICE int atomicSub(int* p, int v) { return __nvvm_atom_add_gen_i(p, -v); }
LOCKSTEP_DEVICE unsigned atomicSub(unsigned* p, unsigned v) { return atomicAdd(p, 0u - v); }
LOCKSTEP_DEVICE int atomicMin(int* p, int v) { return __nvvm_atom_min_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicMin(unsigned* p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
LOCKSTEP_DEVICE int atomicMax(int* p, int v) { return __nvvm_atom_max_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicMax(unsigned* p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
LOCKSTEP_DEVICE int atomicAnd(int* p, int v) { return __nvvm_atom_and_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicAnd(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_and_gen_i((int*)p, (int)v); }
LOCKSTEP_DEVICE int atomicOr(int* p, int v) { return __nvvm_atom_or_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicOr(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_or_gen_i((int*)p, (int)v); }
LOCKSTEP_DEVICE int atomicXor(int* p, int v) { return __nvvm_atom_xor_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicXor(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_xor_gen_i((int*)p, (int)v); }
LOCKSTEP_DEVICE int atomicExch(int* p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
LOCKSTEP_DEVICE unsigned atomicExch(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_xchg_gen_i((int*)p, (int)v); }
LOCKSTEP_DEVICE float atomicExch(float* p, float v) {
    return __builtin_bit_cast(float, __nvvm_atom_xchg_gen_i((int*)p, __builtin_bit_cast(int, v)));
}
LOCKSTEP_DEVICE int atomicCAS(int* p, int compare, int v) { return __nvvm_atom_cas_gen_i(p, compare, v); }
LOCKSTEP_DEVICE unsigned atomicCAS(unsigned* p, unsigned compare, unsigned v) {
    return (unsigned)__nvvm_atom_cas_gen_i((int*)p, (int)compare, (int)v);
}
LOCKSTEP_DEVICE unsigned long long atomicCAS(unsigned long long* p, unsigned long long compare, unsigned long long v) {
    return (unsigned long long)__nvvm_atom_cas_gen_ll((long long*)p, (long long)compare, (long long)v);
}
LOCKSTEP_DEVICE unsigned long long atomicExch(unsigned long long* p, unsigned long long v) {
    return (unsigned long long)__nvvm_atom_xchg_gen_ll((long long*)p, (long long)v);
}

// ---- bytes
LOCKSTEP_DEVICE void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
LOCKSTEP_DEVICE void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
LOCKSTEP_DEVICE void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

// ---- integers
LOCKSTEP_BOTH_SIDES int min(int a, int b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES long long min(long long a, long long b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES int max(int a, int b) { return a > b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
LOCKSTEP_BOTH_SIDES long long max(long long a, long long b) { return a > b ? a : b; }
LOCKSTEP_DEVICE int abs(int a) { return a < 0 ? -a : a; }
LOCKSTEP_DEVICE int __popc(unsigned a) { return __builtin_popcount(a); }
LOCKSTEP_DEVICE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
LOCKSTEP_DEVICE int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
LOCKSTEP_DEVICE int __ffs(int a) { return __builtin_ffs(a); }
LOCKSTEP_DEVICE unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
LOCKSTEP_DEVICE int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
LOCKSTEP_DEVICE int __ffsll(long long a) { return __builtin_ffsll(a); }
LOCKSTEP_DEVICE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
LOCKSTEP_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
LOCKSTEP_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
LOCKSTEP_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
LOCKSTEP_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
LOCKSTEP_DEVICE unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
LOCKSTEP_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
LOCKSTEP_DEVICE float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
LOCKSTEP_DEVICE long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
LOCKSTEP_DEVICE double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
LOCKSTEP_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
LOCKSTEP_DEVICE clock_t clock() { return __nvvm_read_ptx_sreg_clock(); }
template <class T>
LOCKSTEP_DEVICE T __ldg(const T* p) {
    return *p;
}
LOCKSTEP_DEVICE void __trap() { asm volatile("trap;"); }
extern "C" __device__ void* malloc(size_t bytes);  // of the device heap, as new and delete
extern "C" __device__ void free(void* p);
#ifdef LOCKSTEP_PROGRAM  // clang's own <new> has the device's operators
extern "C" __device__ int printf(const char* format, ...);
#else
extern "C" __host__ __device__ int printf(const char* format, ...);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
#define LOCKSTEP_INLINE __inline__ __attribute__((always_inline, nodebug, device))
LOCKSTEP_INLINE void* operator new(size_t bytes) { return malloc(bytes); }
LOCKSTEP_INLINE void* operator new[](size_t bytes) { return malloc(bytes); }
LOCKSTEP_INLINE void operator delete(void* p) noexcept { free(p); }
LOCKSTEP_INLINE void operator delete[](void* p) noexcept { free(p); }
LOCKSTEP_INLINE void operator delete(void* p, size_t) noexcept { free(p); }
LOCKSTEP_INLINE void operator delete[](void* p, size_t) noexcept { free(p); }
LOCKSTEP_INLINE void* operator new(size_t, void* place) noexcept { return place; }
LOCKSTEP_INLINE void* operator new[](size_t, void* place) noexcept { return place; }
#undef LOCKSTEP_INLINE
#pragma clang diagnostic pop
#endif

#include "lockstep_math.h"
#include "lockstep_integer.h"
#include "lockstep_texture.h"

// min and max take what CUDA's do: two of a kind, or an integer of each sign
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__  // on the host too, whose fmin is not declared yet
#define LOCKSTEP_FMINF __builtin_fminf
#define LOCKSTEP_FMAXF __builtin_fmaxf
#define LOCKSTEP_FMIN __builtin_fmin
#define LOCKSTEP_FMAX __builtin_fmax
#else
#define LOCKSTEP_FMINF fminf
#define LOCKSTEP_FMAXF fmaxf
#define LOCKSTEP_FMIN fmin
#define LOCKSTEP_FMAX fmax
#endif
LOCKSTEP_BOTH_SIDES unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned long long max(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
LOCKSTEP_BOTH_SIDES long min(long a, long b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES long max(long a, long b) { return a > b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned long min(unsigned long a, unsigned long b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned long max(unsigned long a, unsigned long b) { return a > b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
LOCKSTEP_BOTH_SIDES unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
LOCKSTEP_BOTH_SIDES unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
LOCKSTEP_BOTH_SIDES unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
LOCKSTEP_BOTH_SIDES float min(float a, float b) { return LOCKSTEP_FMINF(a, b); }
LOCKSTEP_BOTH_SIDES float max(float a, float b) { return LOCKSTEP_FMAXF(a, b); }
LOCKSTEP_BOTH_SIDES double min(double a, double b) { return LOCKSTEP_FMIN(a, b); }
LOCKSTEP_BOTH_SIDES double max(double a, double b) { return LOCKSTEP_FMAX(a, b); }
LOCKSTEP_BOTH_SIDES double min(float a, double b) { return LOCKSTEP_FMIN((double)a, b); }
LOCKSTEP_BOTH_SIDES double min(double a, float b) { return LOCKSTEP_FMIN(a, (double)b); }
LOCKSTEP_BOTH_SIDES double max(float a, double b) { return LOCKSTEP_FMAX((double)a, b); }
LOCKSTEP_BOTH_SIDES double max(double a, float b) { return LOCKSTEP_FMAX(a, (double)b); }
LOCKSTEP_BOTH_SIDES unsigned long min(long a, unsigned long b) { return min((unsigned long)a, b); }
LOCKSTEP_BOTH_SIDES unsigned long min(unsigned long a, long b) { return min(a, (unsigned long)b); }
LOCKSTEP_BOTH_SIDES unsigned long max(long a, unsigned long b) { return max((unsigned long)a, b); }
LOCKSTEP_BOTH_SIDES unsigned long max(unsigned long a, long b) { return max(a, (unsigned long)b); }
LOCKSTEP_BOTH_SIDES unsigned long long min(long long a, unsigned long long b) { return min((unsigned long long)a, b); }
LOCKSTEP_BOTH_SIDES unsigned long long min(unsigned long long a, long long b) { return min(a, (unsigned long long)b); }
LOCKSTEP_BOTH_SIDES unsigned long long max(long long a, unsigned long long b) { return max((unsigned long long)a, b); }
LOCKSTEP_BOTH_SIDES unsigned long long max(unsigned long long a, long long b) { return max(a, (unsigned long long)b); }
#undef LOCKSTEP_FMIN
#undef LOCKSTEP_FMAX
#undef LOCKSTEP_FMINF
#undef LOCKSTEP_FMAXF
