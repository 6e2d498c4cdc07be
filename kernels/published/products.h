// Matrix products in the shapes of public ladders: C[M,N] = alpha A[M,K] B[K,N] + beta C[M,N], row-major, arguments as those of
// kernels/sgemm. Where a source checks every load against the edges, so do these: the compiler turns such checks into predicates.
#pragma once
#include <cuda_fp16.h>
#include <stddef.h>

#define PRODUCT(TYPE, NAME) extern "C" __global__ void NAME(int m, int n, int k, float alpha, const TYPE* a, int lda, const TYPE* b, int ldb, float beta, TYPE* c, int ldc)

// A tile of A [rows, depth], turned where `turned` says so, and one of B [depth, columns] into shared memory, word by word.
template <class T, int rows, int columns, int depth, int threads, bool turned, int skew_a, int skew_b>
__device__ void load_tiles(const T* a, size_t lda, const T* b, size_t ldb, T* tile_a, T* tile_b, size_t step, size_t t, size_t m, size_t n, size_t k) {
#pragma unroll
    for (int i = 0; i < rows * depth / threads; ++i) {
        const size_t at = t + i * threads, row = at / depth, column = at % depth;
        const size_t of_row = blockIdx.y * rows + row, of_column = step * depth + column;
        T value = T(0);
        if (of_row < m && of_column < k) value = a[of_row * lda + of_column];
        tile_a[turned ? column * (rows + skew_a) + row : row * (depth + skew_a) + column] = value;
    }
#pragma unroll
    for (int i = 0; i < depth * columns / threads; ++i) {
        const size_t at = t + i * threads, row = at / columns, column = at % columns;
        const size_t of_row = step * depth + row, of_column = blockIdx.x * columns + column;
        T value = T(0);
        if (of_row < k && of_column < n) value = b[of_row * ldb + of_column];
        tile_b[row * (columns + skew_b) + column] = value;
    }
}

// The same by 16 bytes; A is turned.
template <class T, int rows, int columns, int depth, int threads, int skew_a, int skew_b>
__device__ void load_tiles_by_vectors(const T* a, size_t lda, const T* b, size_t ldb, T* tile_a, T* tile_b, size_t step, size_t t, size_t m, size_t n, size_t k) {
    constexpr int size = 16 / sizeof(T), wide_depth = depth / size, wide_columns = columns / size;
#pragma unroll
    for (int i = 0; i < (rows * wide_depth + threads - 1) / threads; ++i) {
        const size_t at = t + i * threads, row = at / wide_depth, column = at % wide_depth * size;
        const size_t of_row = blockIdx.y * rows + row, of_column = step * depth + column;
        int4 value = make_int4(0, 0, 0, 0);
        if (of_row < m && of_column < k) value = *reinterpret_cast<const int4*>(&a[of_row * lda + of_column]);
        if (of_column + size > k)
            for (int j = 0; j < of_column + size - k; ++j) reinterpret_cast<T*>(&value)[size - 1 - j] = T(0);
        if (row < rows && column < depth)
#pragma unroll
            for (int j = 0; j < size; ++j) tile_a[(column + j) * (rows + skew_a) + row] = reinterpret_cast<const T*>(&value)[j];
    }
#pragma unroll
    for (int i = 0; i < (depth * wide_columns + threads - 1) / threads; ++i) {
        const size_t at = t + i * threads, row = at / wide_columns, column = at % wide_columns * size;
        const size_t of_row = step * depth + row, of_column = blockIdx.x * columns + column;
        int4 value = make_int4(0, 0, 0, 0);
        if (of_row < k && of_column < n) value = *reinterpret_cast<const int4*>(&b[of_row * ldb + of_column]);
        if (of_column + size > n)
            for (int j = 0; j < of_column + size - n; ++j) reinterpret_cast<T*>(&value)[size - 1 - j] = T(0);
        if (row < depth && column < columns) *reinterpret_cast<int4*>(&tile_b[row * (columns + skew_b) + column]) = value;
    }
}
