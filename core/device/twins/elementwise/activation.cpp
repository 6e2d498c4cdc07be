// Activation functions: relu (kernels/relu.cu), gelu_tanh (kernels/unary.cu).
#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void relu(ThreadPool& pool, const T* x, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const Acc<T> value = x[i];
            y[i] = value < 0 ? Acc<T>(0) : value;
        }
    });
}
template <class T>
void relu_backward(ThreadPool& pool, const T* x, const T* dy, T* dx, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const Acc<T> through = dy[i];
            dx[i] = Acc<T>(x[i]) > 0 ? through : Acc<T>(0);
        }
    });
}

// x Phi(x) with Phi = (1 + tanh u) / 2 = 1 / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3): one exponential and one
// quotient instead of tanh's two branches. Its slope is Phi + x Phi (1 - Phi) 2 u'.
template <class A>
static A doubled_bend(A x) {  // 2 u
    return A(1.59576912160573073) * (x + A(0.044715) * x * x * x);
}
template <class T>
void gelu_tanh(ThreadPool& pool, const T* x, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const Acc<T> v = x[i];
            y[i] = v * sigmoid_of(doubled_bend(v));
        }
    });
}
template <class T>
void gelu_tanh_backward(ThreadPool& pool, const T* x, const T* dy, T* dx, int n) {
    using A = Acc<T>;
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) {
            const A v = x[i], s = sigmoid_of(doubled_bend(v));
            dx[i] = A(dy[i]) * (s + v * s * (1 - s) * (A(1.59576912160573073) * (1 + 3 * A(0.044715) * v * v)));
        }
    });
}

std::span<const Kernel> activation() {
    static constexpr Kernel rows[] = {
        {"relu", "relu.cu", "y = max(x, 0)", "x[n] >y[n] n", FLOATS(relu)},
        {"relu_backward", "relu.cu", "dx = dy where x > 0, else 0", "x[n] dy[n] >dx[n] n", FLOATS(relu_backward)},
        {"gelu_tanh", "unary.cu", "y = x Phi(x), Phi by tanh", "x[n] >y[n] n", FLOATS(gelu_tanh), "threads(n)",
         Agreement::nearly},
        {"gelu_tanh_backward", "unary.cu", "dx = dy times its slope, from x", "x[n] dy[n] >dx[n] n",
         FLOATS(gelu_tanh_backward), "threads(n)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
