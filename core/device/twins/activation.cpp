// Activation functions (kernels/relu.cu).
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void relu(ThreadPool& pool, const T* x, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> value = x[i];
            y[i] = value < 0 ? Acc<T>(0) : value;
        }
    });
}
template <class T>
void relu_backward(ThreadPool& pool, const T* x, const T* dy, T* dx, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> through = dy[i];
            dx[i] = Acc<T>(x[i]) > 0 ? through : Acc<T>(0);
        }
    });
}

static const Twin table[] = {TWIN_FLOATS(relu), TWIN_FLOATS(relu_backward)};
std::span<const Twin> activation() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
