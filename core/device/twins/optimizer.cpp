// Optimisers (kernels/sgd.cu).
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void sgd(ThreadPool& pool, T* w, const T* gradient, Acc<T> lr, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) w[i] = Acc<T>(w[i]) - lr * Acc<T>(gradient[i]);
    });
}

static const Twin table[] = {TWIN_FLOATS(sgd)};
std::span<const Twin> optimizer() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
