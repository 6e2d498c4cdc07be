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

static const Twin table[] = {TWIN_FLOATS(relu), TWIN_FLOATS(relu_backward), TWIN_FLOATS(gelu_tanh),
                             TWIN_FLOATS(gelu_tanh_backward)};
std::span<const Twin> activation() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
