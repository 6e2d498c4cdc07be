// Integer functions of CUDA C++ beyond the daily ones, for a clang without toolkit: bytes and bits, products of 24 and 64
// bits, dot products, sums and comparisons of the bytes or halves of a word, atomics of 64 bits and of a scope, loads and
// stores with a hint, what a pointer points at. Included by lockstep_cuda.h. Each gives the value that the CUDA math API
// and programming guide give.
#pragma once

// ---- bits
LOCKSTEP_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned d;  // three bits of each selector nibble: the fourth would spread a sign
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector & 0x7777u));
    return d;
}
LOCKSTEP_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
LOCKSTEP_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
LOCKSTEP_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
LOCKSTEP_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
LOCKSTEP_DEVICE unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
LOCKSTEP_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) {  // the bit of the n-th one from `base` on
    unsigned d;
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(mask), "r"(base), "r"(offset));
    return d;
}

// ---- arithmetic
LOCKSTEP_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
LOCKSTEP_DEVICE unsigned __sad(int a, int b, unsigned c) {
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}
LOCKSTEP_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
LOCKSTEP_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
LOCKSTEP_DEVICE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
LOCKSTEP_DEVICE unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
LOCKSTEP_DEVICE unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
LOCKSTEP_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
LOCKSTEP_DEVICE long labs(long a) { return a < 0 ? -a : a; }
LOCKSTEP_DEVICE long long llabs(long long a) { return a < 0 ? -a : a; }
LOCKSTEP_DEVICE long abs(long a) { return labs(a); }
LOCKSTEP_DEVICE long long abs(long long a) { return llabs(a); }
LOCKSTEP_BOTH_SIDES unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
LOCKSTEP_BOTH_SIDES long long llmin(long long a, long long b) { return a < b ? a : b; }
LOCKSTEP_BOTH_SIDES long long llmax(long long a, long long b) { return a > b ? a : b; }
#define LOCKSTEP_DOT(type, name, instruction)                                                   \
    LOCKSTEP_DEVICE type name(type a, type b, type c) {                                         \
        type d;                                                                                 \
        asm(instruction " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                 \
        return d;                                                                               \
    }
LOCKSTEP_DOT(int, __dp4a, "dp4a.s32.s32")
LOCKSTEP_DOT(unsigned, __dp4a, "dp4a.u32.u32")
LOCKSTEP_DOT(int, __dp2a_lo, "dp2a.lo.s32.s32")
LOCKSTEP_DOT(unsigned, __dp2a_lo, "dp2a.lo.u32.u32")
LOCKSTEP_DOT(int, __dp2a_hi, "dp2a.hi.s32.s32")
LOCKSTEP_DOT(unsigned, __dp2a_hi, "dp2a.hi.u32.u32")
#undef LOCKSTEP_DOT

// ---- the four bytes (name4) or two halves (name2) of a word, each for itself: x of a, y of b
template <int bits, bool is_signed>
LOCKSTEP_DEVICE int lockstep_part(unsigned a, int k) {
    return is_signed ? (int)(a << (32 - bits * (k + 1))) >> (32 - bits) : (int)(a >> bits * k & ((1u << bits) - 1));
}
#define LOCKSTEP_PARTS_OF(name, bits, is_signed, expression)                                                            \
    LOCKSTEP_DEVICE unsigned name(unsigned a, unsigned b) {                                                             \
        const int most = (1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;                   \
        unsigned d = 0;                                                                                                 \
        for (int k = 0; k < 32 / bits; ++k) {                                                                           \
            const int x = lockstep_part<bits, is_signed>(a, k), y = lockstep_part<bits, is_signed>(b, k);               \
            d |= ((unsigned)(expression) & ((1u << bits) - 1)) << bits * k;                                             \
        }                                                                                                               \
        (void)most, (void)least;                                                                                        \
        return d;                                                                                                       \
    }
#define LOCKSTEP_PARTS(name, is_signed, expression)        \
    LOCKSTEP_PARTS_OF(name##4, 8, is_signed, expression)   \
    LOCKSTEP_PARTS_OF(name##2, 16, is_signed, expression)
LOCKSTEP_PARTS(__vadd, false, x + y)
LOCKSTEP_PARTS(__vsub, false, x - y)
LOCKSTEP_PARTS(__vaddus, false, x + y > most ? most : x + y)
LOCKSTEP_PARTS(__vaddss, true, x + y > most ? most : x + y < least ? least : x + y)
LOCKSTEP_PARTS(__vsubus, false, x - y < 0 ? 0 : x - y)
LOCKSTEP_PARTS(__vsubss, true, x - y > most ? most : x - y < least ? least : x - y)
LOCKSTEP_PARTS(__vabsdiffu, false, x > y ? x - y : y - x)
LOCKSTEP_PARTS(__vabsdiffs, true, x > y ? x - y : y - x)
LOCKSTEP_PARTS(__vavgu, false, (x + y + 1) >> 1)
LOCKSTEP_PARTS(__vavgs, true, (x + y + (x + y >= 0)) >> 1)  // a half goes away from zero
LOCKSTEP_PARTS(__vhaddu, false, (x + y) >> 1)
LOCKSTEP_PARTS(__vmaxu, false, x > y ? x : y)
LOCKSTEP_PARTS(__vmaxs, true, x > y ? x : y)
LOCKSTEP_PARTS(__vminu, false, x < y ? x : y)
LOCKSTEP_PARTS(__vmins, true, x < y ? x : y)
#define LOCKSTEP_COMPARE(suffix, is_signed, comparison)                   \
    LOCKSTEP_PARTS(__vcmp##suffix, is_signed, x comparison y ? -1 : 0)    \
    LOCKSTEP_PARTS(__vset##suffix, is_signed, x comparison y ? 1 : 0)
LOCKSTEP_COMPARE(eq, false, ==)
LOCKSTEP_COMPARE(ne, false, !=)
LOCKSTEP_COMPARE(gtu, false, >)
LOCKSTEP_COMPARE(geu, false, >=)
LOCKSTEP_COMPARE(ltu, false, <)
LOCKSTEP_COMPARE(leu, false, <=)
LOCKSTEP_COMPARE(gts, true, >)
LOCKSTEP_COMPARE(ges, true, >=)
LOCKSTEP_COMPARE(lts, true, <)
LOCKSTEP_COMPARE(les, true, <=)
#undef LOCKSTEP_COMPARE
#undef LOCKSTEP_PARTS
#undef LOCKSTEP_PARTS_OF
LOCKSTEP_DEVICE unsigned __vneg4(unsigned a) { return __vsub4(0, a); }
LOCKSTEP_DEVICE unsigned __vneg2(unsigned a) { return __vsub2(0, a); }
LOCKSTEP_DEVICE unsigned __vnegss4(unsigned a) { return __vsubss4(0, a); }
LOCKSTEP_DEVICE unsigned __vnegss2(unsigned a) { return __vsubss2(0, a); }
LOCKSTEP_DEVICE unsigned __vabs4(unsigned a) { return __vabsdiffs4(a, 0); }
LOCKSTEP_DEVICE unsigned __vabs2(unsigned a) { return __vabsdiffs2(a, 0); }
LOCKSTEP_DEVICE unsigned __vabsss4(unsigned a) { return __vminu4(__vabs4(a), 0x7f7f7f7fu); }
LOCKSTEP_DEVICE unsigned __vabsss2(unsigned a) { return __vminu2(__vabs2(a), 0x7fff7fffu); }
#define LOCKSTEP_SAD(name, bits, is_signed)                                                                           \
    LOCKSTEP_DEVICE unsigned name(unsigned a, unsigned b) {                                                           \
        unsigned sum = 0;                                                                                             \
        for (int k = 0; k < 32 / bits; ++k) {                                                                         \
            const int x = lockstep_part<bits, is_signed>(a, k), y = lockstep_part<bits, is_signed>(b, k);             \
            sum += (unsigned)(x > y ? x - y : y - x);                                                                 \
        }                                                                                                             \
        return sum;                                                                                                   \
    }
LOCKSTEP_SAD(__vsadu4, 8, false)
LOCKSTEP_SAD(__vsads4, 8, true)
LOCKSTEP_SAD(__vsadu2, 16, false)
LOCKSTEP_SAD(__vsads2, 16, true)
#undef LOCKSTEP_SAD

// ---- 64-bit values between the lanes of a warp, and reductions over it
#define LOCKSTEP_SHUFFLE_LONG(name, type, second)                                                           \
    LOCKSTEP_DEVICE type name(unsigned mask, type value, second b, int width = 32) {                        \
        return __builtin_bit_cast(type, name(mask, __builtin_bit_cast(double, value), b, width));           \
    }
#define LOCKSTEP_SHUFFLES(type)                           \
    LOCKSTEP_SHUFFLE_LONG(__shfl_sync, type, int)         \
    LOCKSTEP_SHUFFLE_LONG(__shfl_up_sync, type, unsigned) \
    LOCKSTEP_SHUFFLE_LONG(__shfl_down_sync, type, unsigned) \
    LOCKSTEP_SHUFFLE_LONG(__shfl_xor_sync, type, int)
LOCKSTEP_SHUFFLES(long)
LOCKSTEP_SHUFFLES(unsigned long)
LOCKSTEP_SHUFFLES(long long)
LOCKSTEP_SHUFFLES(unsigned long long)
#undef LOCKSTEP_SHUFFLES
#undef LOCKSTEP_SHUFFLE_LONG
#define LOCKSTEP_REDUCE(name, type, instruction)                                                     \
    LOCKSTEP_DEVICE type name(unsigned mask, type value) {                                           \
        type d;                                                                                      \
        asm volatile(instruction " %0, %1, %2;" : "=r"(d) : "r"(value), "r"(mask));                  \
        return d;                                                                                    \
    }
LOCKSTEP_REDUCE(__reduce_add_sync, int, "redux.sync.add.s32")
LOCKSTEP_REDUCE(__reduce_add_sync, unsigned, "redux.sync.add.u32")
LOCKSTEP_REDUCE(__reduce_min_sync, int, "redux.sync.min.s32")
LOCKSTEP_REDUCE(__reduce_min_sync, unsigned, "redux.sync.min.u32")
LOCKSTEP_REDUCE(__reduce_max_sync, int, "redux.sync.max.s32")
LOCKSTEP_REDUCE(__reduce_max_sync, unsigned, "redux.sync.max.u32")
LOCKSTEP_REDUCE(__reduce_and_sync, unsigned, "redux.sync.and.b32")
LOCKSTEP_REDUCE(__reduce_or_sync, unsigned, "redux.sync.or.b32")
LOCKSTEP_REDUCE(__reduce_xor_sync, unsigned, "redux.sync.xor.b32")
#undef LOCKSTEP_REDUCE

// ---- atomics of 64 bits and of 16; of a scope: the modelled machine makes no difference between scopes
#define LOCKSTEP_ATOMIC_LONG(name, type, instruction)                                                                 \
    LOCKSTEP_DEVICE type name(type* p, type v) {                                                                      \
        type old;                                                                                                     \
        asm volatile(instruction " %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");                           \
        return old;                                                                                                   \
    }
LOCKSTEP_ATOMIC_LONG(atomicMin, long long, "atom.min.s64")
LOCKSTEP_ATOMIC_LONG(atomicMin, unsigned long long, "atom.min.u64")
LOCKSTEP_ATOMIC_LONG(atomicMax, long long, "atom.max.s64")
LOCKSTEP_ATOMIC_LONG(atomicMax, unsigned long long, "atom.max.u64")
LOCKSTEP_ATOMIC_LONG(atomicAnd, unsigned long long, "atom.and.b64")
LOCKSTEP_ATOMIC_LONG(atomicOr, unsigned long long, "atom.or.b64")
LOCKSTEP_ATOMIC_LONG(atomicXor, unsigned long long, "atom.xor.b64")
#undef LOCKSTEP_ATOMIC_LONG
LOCKSTEP_DEVICE unsigned short atomicCAS(unsigned short* p, unsigned short compare, unsigned short v) {
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(compare), "h"(v) : "memory");
    return old;
}
#define LOCKSTEP_SCOPED(name)                                          \
    template <class T, class V>                                        \
    LOCKSTEP_DEVICE T name##_block(T* p, V v) {                        \
        return name(p, (T)v);                                          \
    }                                                                  \
    template <class T, class V>                                        \
    LOCKSTEP_DEVICE T name##_system(T* p, V v) {                       \
        return name(p, (T)v);                                          \
    }
LOCKSTEP_SCOPED(atomicAdd)
LOCKSTEP_SCOPED(atomicSub)
LOCKSTEP_SCOPED(atomicMin)
LOCKSTEP_SCOPED(atomicMax)
LOCKSTEP_SCOPED(atomicInc)
LOCKSTEP_SCOPED(atomicDec)
LOCKSTEP_SCOPED(atomicAnd)
LOCKSTEP_SCOPED(atomicOr)
LOCKSTEP_SCOPED(atomicXor)
LOCKSTEP_SCOPED(atomicExch)
#undef LOCKSTEP_SCOPED
template <class T, class C, class V>
LOCKSTEP_DEVICE T atomicCAS_block(T* p, C compare, V v) {
    return atomicCAS(p, (T)compare, (T)v);
}
template <class T, class C, class V>
LOCKSTEP_DEVICE T atomicCAS_system(T* p, C compare, V v) {
    return atomicCAS(p, (T)compare, (T)v);
}

// ---- numbers in pieces, and conversions
LOCKSTEP_DEVICE int __double2hiint(double a) { return (int)(__double_as_longlong(a) >> 32); }
LOCKSTEP_DEVICE int __double2loint(double a) { return (int)__double_as_longlong(a); }
LOCKSTEP_DEVICE double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// ---- loads and stores with a hint, which is none to the modelled machine
#define LOCKSTEP_LOAD(name)                  \
    template <class T>                       \
    LOCKSTEP_DEVICE T name(const T* p) {     \
        return *p;                           \
    }
LOCKSTEP_LOAD(__ldca)
LOCKSTEP_LOAD(__ldcg)
LOCKSTEP_LOAD(__ldcs)
LOCKSTEP_LOAD(__ldlu)
LOCKSTEP_LOAD(__ldcv)
#undef LOCKSTEP_LOAD
#define LOCKSTEP_STORE(name)                           \
    template <class T, class V>                        \
    LOCKSTEP_DEVICE void name(T* p, V v) {             \
        *p = (T)v;                                     \
    }
LOCKSTEP_STORE(__stwb)
LOCKSTEP_STORE(__stcg)
LOCKSTEP_STORE(__stcs)
LOCKSTEP_STORE(__stwt)
#undef LOCKSTEP_STORE

// ---- what a pointer points at
#define LOCKSTEP_SPACE(name, space)                                                                                     \
    LOCKSTEP_DEVICE unsigned name(const void* p) {                                                                      \
        unsigned d;                                                                                                     \
        asm("{ .reg .pred q; isspacep." space " q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(d) : "l"(p));                    \
        return d;                                                                                                       \
    }
LOCKSTEP_SPACE(__isShared, "shared")
LOCKSTEP_SPACE(__isGlobal, "global")
LOCKSTEP_SPACE(__isLocal, "local")
LOCKSTEP_SPACE(__isConstant, "const")
#undef LOCKSTEP_SPACE
LOCKSTEP_DEVICE size_t __cvta_generic_to_shared(const void* p) {
    size_t d;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(d) : "l"(p));
    return d;
}
LOCKSTEP_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }
LOCKSTEP_DEVICE void __brkpt() { asm volatile("brkpt;"); }
LOCKSTEP_DEVICE void __threadfence_system() {
    LOCKSTEP_ALL_MEMORY;
    __nvvm_membar_sys();
    LOCKSTEP_ALL_MEMORY;
}
