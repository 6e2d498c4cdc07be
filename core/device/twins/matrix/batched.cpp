// Matrix products of a batch (kernels/bmm.cu). Many matrices: each is one thread's; few: each is cut up as a single
// product is. Which of the two depends on the shape alone, so the bits do not depend on the number of threads.
#include <type_traits>

#include "core/device/kernels/matmul.h"
#include "core/device/kernels/plain_product.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

constexpr int few = 4;

// C[M,N] = op(A) op(B) on the calling thread.
inline void one_product(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c) {
    matmul_here(transpose_a, transpose_b, m, n, k, a, b, c);
}
inline void one_product(bool transpose_a, bool transpose_b, int m, int n, int k, const double* a, const double* b,
                        double* c) {
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    if (transpose_a) {
        double* straight = scratch<double>(0, rows * depth);
        for (size_t l = 0; l < depth; ++l)
            for (size_t i = 0; i < rows; ++i) straight[i * depth + l] = a[l * rows + i];
        a = straight;
    }
    columns_of_product(0, columns, transpose_b, rows, columns, depth, a, b, c);
}

template <class T>
void batched_product(ThreadPool& pool, bool transpose_a, bool transpose_b, const T* a, const T* b, T* c, int batch, int m,
                     int n, int k, int stride_a, int stride_b, int stride_c) {
    if (batch <= 0 || m <= 0 || n <= 0) return;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        if (batch < few) {
            for (int64_t i = 0; i < batch; ++i) {
                if constexpr (std::is_same_v<T, float>)
                    device::matmul(transpose_a, transpose_b, m, n, k, a + i * stride_a, b + i * stride_b, c + i * stride_c,
                                   pool);
                else
                    plain_product(transpose_a, transpose_b, m, n, k, a + i * stride_a, b + i * stride_b, c + i * stride_c,
                                  pool);
            }
            return;
        }
    }
    each_row(pool, batch, std::max(1, static_cast<int>(std::min<int64_t>(int64_t{m} * n * std::max(k, 1) / 32, 1 << 20))),
             [=](int item) {
                 const int64_t i = item;
                 if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
                     one_product(transpose_a, transpose_b, m, n, k, a + i * stride_a, b + i * stride_b, c + i * stride_c);
                 } else {
                     const auto size = [](int x, int y) {
                         return static_cast<size_t>(x) * static_cast<size_t>(std::max(y, 0));
                     };
                     float* wide_a = scratch<float>(1, size(m, k));
                     float* wide_b = scratch<float>(2, size(n, k));
                     float* wide_c = scratch<float>(3, size(m, n));
                     std::copy_n(a + i * stride_a, size(m, k), wide_a);
                     std::copy_n(b + i * stride_b, size(n, k), wide_b);
                     one_product(transpose_a, transpose_b, m, n, k, wide_a, wide_b, wide_c);
                     std::copy_n(wide_c, size(m, n), c + i * stride_c);
                 }
             });
}

template <class T>
void bmm_nn(ThreadPool& pool, const T* a, const T* b, T* c, int batch, int m, int n, int k, int stride_a, int stride_b,
            int stride_c) {
    batched_product(pool, false, false, a, b, c, batch, m, n, k, stride_a, stride_b, stride_c);
}
template <class T>
void bmm_nt(ThreadPool& pool, const T* a, const T* b, T* c, int batch, int m, int n, int k, int stride_a, int stride_b,
            int stride_c) {
    batched_product(pool, false, true, a, b, c, batch, m, n, k, stride_a, stride_b, stride_c);
}
template <class T>
void bmm_tn(ThreadPool& pool, const T* a, const T* b, T* c, int batch, int m, int n, int k, int stride_a, int stride_b,
            int stride_c) {
    batched_product(pool, true, false, a, b, c, batch, m, n, k, stride_a, stride_b, stride_c);
}

#define BATCHED "batch=1+@m%5 m=min(@m,20) n=min(@n,37) k=min(@k,40) stride_a=0 stride_b=k*n stride_c=m*n"
std::span<const Kernel> batched() {
    static constexpr Kernel rows[] = {
        {"bmm_nn",
         "bmm.cu",
         "C[i,M,N] = A[i,M,K] B[i,K,N] for a batch; each matrix a stride behind the last",
         "a[(batch-1)*stride_a+m*k] b[(batch-1)*stride_b+k*n] >c[(batch-1)*stride_c+m*n] " BATCHED,
         FLOATS(bmm_nn),
         "tiles(n,m,batch)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4, 5}, 9}, .tells_of_parts = true}},
        {"bmm_nt",
         "bmm.cu",
         "C[i,M,N] = A[i,M,K] B[i,N,K] transposed",
         "a[(batch-1)*stride_a+m*k] b[(batch-1)*stride_b+k*n] >c[(batch-1)*stride_c+m*n] " BATCHED,
         FLOATS(bmm_nt),
         "tiles(n,m,batch)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4, 5}, 9}, .tells_of_parts = true}},
        {"bmm_tn",
         "bmm.cu",
         "C[i,M,N] = A[i,K,M] transposed B[i,K,N]",
         "a[(batch-1)*stride_a+m*k] b[(batch-1)*stride_b+k*n] >c[(batch-1)*stride_c+m*n] " BATCHED,
         FLOATS(bmm_tn),
         "tiles(n,m,batch)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4, 5}, 9}, .tells_of_parts = true}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
