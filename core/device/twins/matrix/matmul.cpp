// Matrix products (kernels/matmul.cu): f32 by the library of core/device/kernels/matmul.h, f64 by plain loops; f16 and bf16
// are widened, multiplied in f32 and rounded once, as the kernels do.
#include "core/device/kernels/matmul.h"

#include <cmath>
#include <type_traits>

#include "core/device/kernels/plain_product.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void product(ThreadPool& pool, bool transpose_a, bool transpose_b, const T* a, const T* b, T* c, int m, int n, int k) {
    if constexpr (std::is_same_v<T, float>) {
        device::matmul(transpose_a, transpose_b, m, n, k, a, b, c, pool, true);
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

static void plain_product_here(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b,
                               float* c) {
    if (m <= 0 || n <= 0) return;
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    std::vector<float> straight;
    if (transpose_a) a = (straight = transposed(a, depth, rows)).data();
    columns_of_product(0, columns, transpose_b, rows, columns, depth, a, b, c);
}

PlainProducts plain_products() {
    return {plain_product<float>, plain_product_here};
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

// On tensor cores (kernels/matmul_tc.cu): the same products.
template <class T>
void matmul_tc_nn(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, false, false, a, b, c, m, n, k);
}
template <class T>
void matmul_tc_nt(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, false, true, a, b, c, m, n, k);
}
template <class T>
void matmul_tc_tn(ThreadPool& pool, const T* a, const T* b, T* c, int m, int n, int k) {
    product(pool, true, false, a, b, c, m, n, k);
}

// Products of 8-bit integers and of two-of-four weights (kernels/int8.cu, sparse24.cu).
inline int to_int8(float x, float scale) {
    const float q = x / scale, within = q > 127 ? 127 : (q < -127 ? -127 : q);
    return within != within ? 0 : static_cast<int>(std::nearbyint(within));
}

void quantize_int8(ThreadPool& pool, const float* x, const float* scales, int* q, int rows, int columns, int words,
                   int inner, int by_row, float scale) {
    each_row(pool, rows, columns, [=](int row) {
        const float own = by_row ? scales[row] : scale;
        const size_t step = static_cast<size_t>(inner);
        const float* from = x + static_cast<size_t>(row / inner) * static_cast<size_t>(columns) * step + row % inner;
        for (int word = 0; word < words; ++word) {
            uint32_t bits = 0;
            for (int b = 0; b < 4 && 4 * word + b < columns; ++b) {
                const float value = from[static_cast<size_t>(4 * word + b) * step];
                bits |= (static_cast<uint32_t>(to_int8(value, own)) & 255u) << 8 * b;
            }
            q[static_cast<size_t>(row) * static_cast<size_t>(words) + static_cast<size_t>(word)] = static_cast<int>(bits);
        }
    });
}

void int8_matmul(ThreadPool& pool, const int* a, const int* b, int* c, int m, int n, int words) {
    const auto length = static_cast<size_t>(words);
    each_row(pool, m, 4 * words, [=](int row) {
        const auto* left = reinterpret_cast<const int8_t*>(a + static_cast<size_t>(row) * length);
        for (int column = 0; column < n; ++column) {
            const auto* right = reinterpret_cast<const int8_t*>(b + static_cast<size_t>(column) * length);
            uint32_t sum = 0;
            for (size_t i = 0; i < 4 * length; ++i) sum += static_cast<uint32_t>(left[i] * right[i]);
            c[static_cast<size_t>(row) * static_cast<size_t>(n) + static_cast<size_t>(column)] = static_cast<int>(sum);
        }
    });
}

void dequantize_int8(ThreadPool& pool, const int* sums, const float* scales, float* y, int rows, int columns, int inner,
                     int by_column, float scale) {
    each_row(pool, rows, columns, [=](int row) {
        const size_t width = static_cast<size_t>(columns), step = static_cast<size_t>(inner);
        float* to = y + static_cast<size_t>(row / inner) * width * step + row % inner;
        for (size_t i = 0; i < width; ++i) {
            const float both = scale * scales[by_column ? i : 0];
            to[i * step] = static_cast<float>(sums[static_cast<size_t>(row) * width + i]) * both;
        }
    });
}

void requantize_int8(ThreadPool& pool, const int* sums, const float* scales, const float* bias, int* q, int rows,
                     int columns, int words, int by_column, int relu, float scale, float scale_out) {
    each_row(pool, rows, columns, [=](int row) {
        const int* from = sums + static_cast<size_t>(row) * static_cast<size_t>(columns);
        for (int word = 0; word < words; ++word) {
            uint32_t bits = 0;
            for (int b = 0; b < 4 && 4 * word + b < columns; ++b) {
                const int i = 4 * word + b;
                const float both = scale * scales[by_column ? i : 0], y = static_cast<float>(from[i]) * both + bias[i];
                bits |= (static_cast<uint32_t>(to_int8(relu && y < 0 ? 0 : y, scale_out)) & 255u) << 8 * b;
            }
            q[static_cast<size_t>(row) * static_cast<size_t>(words) + static_cast<size_t>(word)] = static_cast<int>(bits);
        }
    });
}

void int8_linear(ThreadPool& pool, const float* x, const int* b, const float* scales, float* y, int m, int n, int k,
                 int words, int by_column, float scale) {
    if (m <= 0 || n <= 0 || k <= 0) return;
    const auto inner = static_cast<size_t>(k), length = 4 * static_cast<size_t>(words), width = static_cast<size_t>(n);
    int8_t* narrow = scratch<int8_t>(0, static_cast<size_t>(m) * length);
    each_row(pool, m, 4 * words * n, [=](int row) {
        int8_t* left = narrow + static_cast<size_t>(row) * length;
        const float* from = x + static_cast<size_t>(row) * inner;
        for (size_t i = 0; i < length; ++i) left[i] = static_cast<int8_t>(i < inner ? to_int8(from[i], scale) : 0);
        for (size_t column = 0; column < width; ++column) {
            const auto* right = reinterpret_cast<const int8_t*>(b) + column * length;
            uint32_t sum = 0;
            for (size_t i = 0; i < length; ++i) sum += static_cast<uint32_t>(left[i] * right[i]);
            const float both = scale * scales[by_column ? column : 0];
            y[static_cast<size_t>(row) * width + column] = static_cast<float>(static_cast<int>(sum)) * both;
        }
    });
}

void int8_weight_matmul(ThreadPool& pool, const float* a, const uint8_t* b, const float* scales, float* c, int m, int n,
                        int k, int padded, int by_column) {
    if (m <= 0 || n <= 0 || k <= 0) return;
    float* wide = scratch<float>(0, static_cast<size_t>(n) * static_cast<size_t>(k));
    for (size_t row = 0; row < static_cast<size_t>(n); ++row)
        for (size_t i = 0; i < static_cast<size_t>(k); ++i)
            wide[row * static_cast<size_t>(k) + i] = static_cast<int8_t>(b[row * static_cast<size_t>(padded) + i]);
    device::matmul(false, true, m, n, k, a, wide, c, pool);
    each_row(pool, m, n, [=](int row) {
        float* to = c + static_cast<size_t>(row) * static_cast<size_t>(n);
        for (int i = 0; i < n; ++i) to[i] *= scales[by_column ? i : 0];
    });
}

void sparse24_matmul(ThreadPool& pool, const float* a, const float* values, const int* which, float* c, int m, int n,
                     int k) {
    const size_t kept = static_cast<size_t>(k) / 2, words = (static_cast<size_t>(k) + 31) / 32;
    each_row(pool, m, k, [=](int row) {
        const float* left = a + static_cast<size_t>(row) * static_cast<size_t>(k);
        for (size_t column = 0; column < static_cast<size_t>(n); ++column) {
            const float* right = values + column * kept;
            float sum = 0;
            for (size_t i = 0; i < kept; ++i) {
                const uint32_t places = static_cast<uint32_t>(which[column * words + i / 16]);
                sum += left[i / 2 * 4 + (places >> 2 * (i % 16) & 3)] * right[i];
            }
            c[static_cast<size_t>(row) * static_cast<size_t>(n) + column] = sum;
        }
    });
}

std::span<const Kernel> matmul() {
    static constexpr Kernel rows[] = {
        {"matmul_nn",
         "matmul.cu",
         "C[M,N] = A[M,K] B[K,N]",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         FLOATS(matmul_nn),
         "tiles(n,m)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_nt",
         "matmul.cu",
         "C[M,N] = A[M,K] B[N,K] transposed",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         FLOATS(matmul_nt),
         "tiles(n,m)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tn",
         "matmul.cu",
         "C[M,N] = A[K,M] transposed B[K,N]",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         FLOATS(matmul_tn),
         "tiles(n,m)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_naive",
         "matmul.cu",
         "C[M,N] = A[M,K] B[K,N], one thread an element, no tiles",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         FLOATS(matmul_naive),
         "grid(cover(n,24),cover(m,3),1,24,3)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tc_nn",
         "matmul_tc.cu",
         "C[M,N] = A[M,K] B[K,N] on tensor cores",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         {.f16 = run<matmul_tc_nn<f16>>},
         "grid(cover(n,32),cover(m,32),1,128,1)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tc_nn",
         "matmul_tc_bf16.cu",
         "C[M,N] = A[M,K] B[K,N] on tensor cores",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         {.bf16 = run<matmul_tc_nn<bf16>>},
         "grid(cover(n,32),cover(m,32),1,128,1)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tc_nt",
         "matmul_tc.cu",
         "C[M,N] = A[M,K] B[N,K] transposed on tensor cores",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         {.f16 = run<matmul_tc_nt<f16>>},
         "grid(cover(n,32),cover(m,32),1,128,1)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tc_nt",
         "matmul_tc_bf16.cu",
         "C[M,N] = A[M,K] B[N,K] transposed on tensor cores",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         {.bf16 = run<matmul_tc_nt<bf16>>},
         "grid(cover(n,32),cover(m,32),1,128,1)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tc_tn",
         "matmul_tc.cu",
         "C[M,N] = A[K,M] transposed B[K,N] on tensor cores",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         {.f16 = run<matmul_tc_tn<f16>>},
         "grid(cover(n,32),cover(m,32),1,128,1)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"matmul_tc_tn",
         "matmul_tc_bf16.cu",
         "C[M,N] = A[K,M] transposed B[K,N] on tensor cores",
         "a[m,k] b[k,n] >c[m,n] m=@m n=@n k=@k",
         {.bf16 = run<matmul_tc_tn<bf16>>},
         "grid(cover(n,32),cover(m,32),1,128,1)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}, .tells_of_parts = true}},
        {"quantize_int8",
         "int8.cu",
         "q[R,C] = x / scale in words of four 8-bit integers",
         "x[rows,columns]{-2..2,nan} scales[rows*by_row]{0.005..0.02} >q[rows,words]:i32 rows=@m*@n columns=@k "
         "words=cover(columns,4) inner=@n by_row=@m%2 scale:sum=0.01",
         {.f32 = run<quantize_int8>},
         "threads(rows*words)"},
        {"int8_matmul",
         "int8.cu",
         "C[M,N] = A[M,K] B[N,K] transposed of 8-bit integers, sums of 32 bits",
         "a[m,words]{-2147483648..2147483648} b[n,words]{-2147483648..2147483648} >c[m,n] m=@m n=@n words=cover(@k,4)",
         {.i32 = run<int8_matmul>},
         "tiles(n,m)"},
        {"dequantize_int8",
         "int8.cu",
         "y = scales times sums",
         "sums[rows,columns]:i32{-200000..200000} scales[(columns-1)*by_column+1]{0.005..0.02} >y[rows,columns] rows=@m*@n "
         "columns=@k inner=@n by_column=@m%2 scale:sum=0.01",
         {.f32 = run<dequantize_int8>},
         "threads(rows*columns)"},
        {"requantize_int8",
         "int8.cu",
         "q = (scales times sums + bias, ReLU) / scale, in words of four",
         "sums[rows,columns]:i32{-200000..200000} scales[(columns-1)*by_column+1]{0.005..0.02} bias[columns] "
         ">q[rows,words]:i32 "
         "rows=@m columns=@k words=cover(columns,4) by_column=@m%2 relu=@n%2 scale:sum=0.01 scale_out:sum=0.2",
         {.f32 = run<requantize_int8>},
         "threads(rows*words)"},
        {"int8_weight_matmul",
         "int8.cu",
         "C[M,N] = A[M,K] B[N,K] transposed, B of 8-bit integers and scales",
         "a[m,k] b[n,padded]:u8{0..256} scales[(n-1)*by_column+1]{0.005..0.02} >c[m,n] m=@m n=@n k=@k padded=4*cover(k,4) "
         "by_column=@m%2",
         {.f32 = run<int8_weight_matmul>},
         "tiles(n,m)",
         Agreement::nearly},
        {"int8_linear",
         "int8.cu",
         "y[M,N] = scales times 8-bit x[M,K] 8-bit B[N,K] transposed, from floats to floats",
         "x[m,k]{-2..2,nan} b[n,words]:i32{-2147483648..2147483648} scales[(n-1)*by_column+1]{0.005..0.02} >y[m,n] m=@m "
         "n=@n "
         "k=@k words=cover(k,4) by_column=@m%2 scale:sum=0.01",
         {.f32 = run<int8_linear>},
         "tiles(n,m)"},
        {"sparse24_matmul",
         "sparse24.cu",
         "C[M,N] = A[M,K] B[N,K] transposed, two of four of B kept",
         "a[m,k] values[n,k/2] which[n,cover(k,32)]:i32{-2147483648..2147483648} >c[m,n] m=@m n=@n k=4*cover(@k,4)",
         {.f32 = run<sparse24_matmul>},
         "tiles(n,m)",
         Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
