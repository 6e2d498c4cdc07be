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

std::span<const Kernel> glu() {
    static constexpr Kernel rows[] = {
        {"swiglu", "glu.cu", "y = silu(gate) up", "gate[n]{-6..6} up[n] >y[n] n", FLOATS(swiglu), "threads(n)",
         Agreement::nearly},
        {"swiglu_backward", "glu.cu", "gradients of silu(gate) up", "gate[n]{-6..6} up[n] dy[n] >dgate[n] >dup[n] n",
         FLOATS(swiglu_backward), "threads(n)", Agreement::nearly},
        {"glu", "glu.cu", "y = sigmoid(gate) up", "gate[n]{-6..6} up[n] >y[n] n", FLOATS(glu), "threads(n)",
         Agreement::nearly},
        {"glu_backward", "glu.cu", "gradients of sigmoid(gate) up", "gate[n]{-6..6} up[n] dy[n] >dgate[n] >dup[n] n",
         FLOATS(glu_backward), "threads(n)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
