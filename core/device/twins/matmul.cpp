// Matrix products (kernels/matmul.cu): f32 by the library of core/device/matmul.h, f64 by plain loops; f16 and bf16 are
// widened, multiplied in f32 and rounded once, as the kernels do.
#include "core/device/matmul.h"

#include <type_traits>

#include "core/device/plain_product.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void product(ThreadPool& pool, bool transpose_a, bool transpose_b, const T* a, const T* b, T* c, int m, int n, int k) {
    if constexpr (std::is_same_v<T, float>) {
        device::matmul(transpose_a, transpose_b, m, n, k, a, b, c, pool);
    } else if constexpr (std::is_same_v<T, double>) {
        plain_product(transpose_a, transpose_b, m, n, k, a, b, c, pool);
    } else {
        const auto size = [](int x, int y) {
            return static_cast<size_t>(std::max(x, 0)) * static_cast<size_t>(std::max(y, 0));
        };
        float* wide_a = scratch<float>(0, size(m, k));
        float* wide_b = scratch<float>(1, size(k, n));
        float* wide_c = scratch<float>(2, size(m, n));
        std::copy_n(a, size(m, k), wide_a);
        std::copy_n(b, size(k, n), wide_b);
        device::matmul(transpose_a, transpose_b, m, n, k, wide_a, wide_b, wide_c, pool);
        std::copy_n(wide_c, size(m, n), c);
    }
}

template <class T>
void matmul_nn(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, false, false, a, b, c, m, n, k);
}
template <class T>
void matmul_nt(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, false, true, a, b, c, m, n, k);
}
template <class T>
void matmul_tn(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, true, false, a, b, c, m, n, k);
}
template <class T>
void matmul_naive(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, false, false, a, b, c, m, n, k);
}

static const Twin table[] = {TWIN_FLOATS(matmul_nn), TWIN_FLOATS(matmul_nt), TWIN_FLOATS(matmul_tn),
                             TWIN_FLOATS(matmul_naive)};
std::span<const Twin> matmul() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
