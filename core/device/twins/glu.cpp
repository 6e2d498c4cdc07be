// Gated linear units (kernels/glu.cu).
#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void swiglu(ThreadPool& pool, const T* gate, const T* up, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const Acc<T> g = gate[i];
            y[i] = g * sigmoid_of(g) * Acc<T>(up[i]);
        }
    });
}
template <class T>
void swiglu_backward(ThreadPool& pool, const T* gate, const T* up, const T* dy, T* dgate, T* dup, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const Acc<T> g = gate[i], s = sigmoid_of(g), d = dy[i], u = up[i];
            dup[i] = d * (g * s);
            dgate[i] = d * u * (s * (1 + g * (1 - s)));
        }
    });
}
template <class T>
void glu(ThreadPool& pool, const T* gate, const T* up, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) y[i] = sigmoid_of(Acc<T>(gate[i])) * Acc<T>(up[i]);
    });
}
template <class T>
void glu_backward(ThreadPool& pool, const T* gate, const T* up, const T* dy, T* dgate, T* dup, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const Acc<T> s = sigmoid_of(Acc<T>(gate[i])), d = dy[i], u = up[i];
            dup[i] = d * s;
            dgate[i] = d * u * (s * (1 - s));
        }
    });
}

static const Twin table[] = {TWIN_FLOATS(swiglu), TWIN_FLOATS(swiglu_backward), TWIN_FLOATS(glu), TWIN_FLOATS(glu_backward)};
std::span<const Twin> glu() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
