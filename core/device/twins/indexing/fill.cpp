// Filling and adding in place (kernels/fill.cu).
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void fill(ThreadPool& pool, T* y, Acc<T> value, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = static_cast<T>(value);
    });
}
template <class T>
void accumulate(ThreadPool& pool, T* y, const T* x, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = Acc<T>(y[i]) + Acc<T>(x[i]);
    });
}

std::span<const Kernel> fill() {
    static constexpr Kernel rows[] = {
        {"fill", "fill.cu", "y = value", ">y[n] value:sum=7 n", FLOATS_AND_INTEGERS(fill)},
        {"accumulate", "fill.cu", "y = y + x", "&y[n] x[n] n", FLOATS(accumulate)},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
