// How a lambda over one lane becomes a lane function over 32: lanes([](float a, float b) { return a + b; }).
// The lambda's own types say how the lanes are stored: bool is one bit of a mask, Mask the whole mask, Half 16 bits of f16.
// Everything here has internal linkage: three copies are compiled for three instruction sets, and the linker must not
// take one for another. For the same reason no function of the standard library is used.
#pragma once
#include "core/ptx/opcodes/opcode.h"

#if defined(__clang__)
#define LOCKSTEP_LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LOCKSTEP_LANES_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace lockstep::ptx {
namespace {

struct Mask {
    uint32_t bits;
};
struct Bit {  // one lane of a mask as 0 or 1: for arithmetic, which becomes vectors more readily than a condition
    uint32_t value;
};

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class R, class A>
struct Signature<R (C::*)(A) const> {
    using Result = R;
    using First = A;
    static constexpr int arity = 1;
};
template <class C, class R, class A, class B>
struct Signature<R (C::*)(A, B) const> : Signature<R (C::*)(A) const> {
    using Second = B;
    static constexpr int arity = 2;
};
template <class C, class R, class A, class B, class D>
struct Signature<R (C::*)(A, B, D) const> : Signature<R (C::*)(A, B) const> {
    using Third = D;
    static constexpr int arity = 3;
};
template <class C, class R, class A, class B, class D, class E>
struct Signature<R (C::*)(A, B, D, E) const> : Signature<R (C::*)(A, B, D) const> {
    using Fourth = E;
    static constexpr int arity = 4;
};

template <class T>
inline T lane(const std::byte* p, int i) {
    if constexpr (same<T, bool>)
        return (*reinterpret_cast<const uint32_t*>(p) >> i & 1u) != 0;
    else if constexpr (same<T, Bit>)
        return Bit{*reinterpret_cast<const uint32_t*>(p) >> i & 1u};
    else
        return reinterpret_cast<const T*>(p)[i];
}

// Calls each(i) for all lanes and stores what it returns.
template <class R, class Each>
inline void for_lanes(std::byte* d, Each each) {
    if constexpr (same<R, bool>) {
        uint32_t mask = 0;
        for (int i = 0; i < 32; ++i) mask |= static_cast<uint32_t>(each(i)) << i;
        *reinterpret_cast<uint32_t*>(d) = mask;
    } else if constexpr (same<R, Mask>) {
        *reinterpret_cast<Mask*>(d) = each(0);
    } else {
        R* out = reinterpret_cast<R*>(__builtin_assume_aligned(d, 64));
        LOCKSTEP_LANES_INDEPENDENT
        for (int i = 0; i < 32; ++i) out[i] = each(i);
    }
}

template <class F>
void run(std::byte* d, [[maybe_unused]] const std::byte* a, [[maybe_unused]] const std::byte* b,
         [[maybe_unused]] const std::byte* c) {
    using S = Signature<F>;
    using R = typename S::Result;
    constexpr F f{};
    if constexpr (S::arity == 1)
        for_lanes<R>(d, [=](int i) { return f(lane<typename S::First>(a, i)); });
    else if constexpr (S::arity == 2)
        for_lanes<R>(d, [=](int i) { return f(lane<typename S::First>(a, i), lane<typename S::Second>(b, i)); });
    else
        for_lanes<R>(d, [=](int i) {
            return f(lane<typename S::First>(a, i), lane<typename S::Second>(b, i), lane<typename S::Third>(c, i));
        });
}

template <class F>
void run_many(std::byte* const* d, const std::byte* const* s) {
    using S = Signature<F>;
    constexpr F f{};
    for_lanes<typename S::Result>(d[0], [=](int i) {
        return f(lane<typename S::First>(s[0], i), lane<typename S::Second>(s[1], i), lane<typename S::Third>(s[2], i),
                 lane<typename S::Fourth>(s[3], i));
    });
}

template <class F>
constexpr LaneFunction lanes(F) {
    return &run<F>;
}
template <class F>
constexpr ManyLaneFunction many(F) {
    return &run_many<F>;
}

}  // namespace
}  // namespace lockstep::ptx
