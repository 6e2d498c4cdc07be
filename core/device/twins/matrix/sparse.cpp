// A sparse matrix in compressed rows times a dense one (kernels/sparse.cu).
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void sparse_matmul(ThreadPool& pool, const int* row_start, const int* column, const T* value, const T* x, T* y, int rows,
                   int inner, int columns, int entries) {
    if (row_start[0] != 0 || row_start[rows] != entries)
        throw Failure(fmt::format("the rows of a sparse matrix of {} entries begin at {} and end at {}", entries,
                                  row_start[0], row_start[rows]));
    for (int row = 0; row < rows; ++row)
        if (row_start[row] < 0 || row_start[row + 1] < row_start[row])
            throw Failure(fmt::format("row {} of a sparse matrix begins at entry {} and ends at {}", row, row_start[row],
                                      row_start[row + 1]));
    for (int e = 0; e < entries; ++e)
        if (column[e] < 0 || column[e] >= inner)
            throw Failure(fmt::format("entry {} of a sparse matrix is in column {} of {}", e, column[e], inner));
    each_row(pool, rows, columns * 4, [=](int row) {
        Acc<T>* sum = scratch<Acc<T>>(0, static_cast<size_t>(columns));
        std::fill_n(sum, columns, Acc<T>(0));
        for (int e = row_start[row]; e < row_start[row + 1]; ++e) {
            const Acc<T> a = value[e];
            const T* from = x + int64_t{column[e]} * columns;
            for (int c = 0; c < columns; ++c) sum[c] += a * Acc<T>(from[c]);
        }
        for (int c = 0; c < columns; ++c) y[int64_t{row} * columns + c] = static_cast<T>(sum[c]);
    });
}

inline int row_of(const int* row_start, int rows, int entry) {
    return static_cast<int>(std::upper_bound(row_start, row_start + rows + 1, entry) - row_start) - 1;
}

template <class T>
void sparse_matmul_values(ThreadPool& pool, const int* row_start, const int* column, const T* x, const T* dy, T* dvalue,
                          int rows, int columns, int entries) {
    each_row(pool, entries, columns, [=](int e) {
        const T* d = dy + int64_t{row_of(row_start, rows, e)} * columns;
        const T* from = x + int64_t{column[e]} * columns;
        Acc<T> sum = 0;
        for (int c = 0; c < columns; ++c) sum += Acc<T>(d[c]) * Acc<T>(from[c]);
        dvalue[e] = static_cast<T>(sum);
    });
}

template <class T>
void sparse_matmul_backward(ThreadPool& pool, const int* row_start, const int* column, const int* next, const int* first,
                            const T* value, const T* dy, T* dx, int rows, int columns, int entries) {
    each_row(pool, entries, columns * 4, [=](int start) {
        if (!first[start]) return;
        Acc<T>* sum = scratch<Acc<T>>(0, static_cast<size_t>(columns));
        std::fill_n(sum, columns, Acc<T>(0));
        for (int e = start; e >= 0; e = next[e]) {
            const Acc<T> a = value[e];
            const T* d = dy + int64_t{row_of(row_start, rows, e)} * columns;
            for (int c = 0; c < columns; ++c) sum[c] += a * Acc<T>(d[c]);
        }
        T* to = dx + int64_t{column[start]} * columns;
        for (int c = 0; c < columns; ++c) to[c] = static_cast<T>(sum[c]);
    });
}

std::span<const Kernel> sparse() {
    static constexpr Kernel rows[] = {
        {"sparse_matmul", "sparse.cu", "y[R,C] = A x[K,C], A in compressed rows",
         "row_start[rows+1]:i32{starts:entries} column[entries]:i32{0..inner} value[entries] x[inner,columns] "
         ">y[rows,columns] "
         "rows inner=@n columns=1+@k%40 entries=1+rows*inner/4",
         FLOATS(sparse_matmul), "threads(rows*columns)", Agreement::nearly},
        {"sparse_matmul_values", "sparse.cu", "dvalue[e] = dy[row of e] . x[column of e]",
         "inner=@n | row_start[rows+1]:i32{starts:entries} column[entries]:i32{0..inner} x[inner,columns] dy[rows,columns] "
         ">dvalue[entries] rows columns=1+@k%40 entries=1+rows*inner/4",
         FLOATS(sparse_matmul_values), "threads(entries)", Agreement::nearly},
        {"sparse_matmul_backward", "sparse.cu", "dx[K,C] = A transposed dy",
         "inner=@n | row_start[rows+1]:i32{starts:entries} column[entries]:i32{0..inner} next[entries]:i32{next:column} "
         "first[entries]:i32{first:column} value[entries] dy[rows,columns] &dx[inner,columns] rows columns=1+@k%40 "
         "entries=1+rows*inner/4",
         FLOATS(sparse_matmul_backward), "grid(entries,1,1,128,1)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
