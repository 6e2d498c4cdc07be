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

static const Twin table[] = {TWIN_FLOATS(fill), TWIN_INTEGERS(fill), TWIN_FLOATS(accumulate)};
std::span<const Twin> fill() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
