// Softmax and its logarithm, row by row (kernels/softmax.cu).
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/device/twins/rows.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
static void softmax_row(const T* x, T* y, int seen, int columns) {
    Acc<T>* power = scratch<Acc<T>>(0, static_cast<size_t>(seen));
    const Acc<T> sum = powers_of_row(x, seen, largest_of_row(x, seen), power);
    for (int i = 0; i < seen; ++i) y[i] = power[i] / sum;
    for (int i = seen; i < columns; ++i) y[i] = Acc<T>(0);
}

template <class T>
void softmax(ThreadPool& pool, const T* x, T* y, int rows, int columns) {
    each_row(pool, rows, columns * 8,
             [=](int row) { softmax_row(x + int64_t{row} * columns, y + int64_t{row} * columns, columns, columns); });
}
template <class T>
void softmax_causal(ThreadPool& pool, const T* x, T* y, int rows, int columns, int queries) {
    if (queries < 1 || queries > columns)
        throw Failure(fmt::format("softmax_causal: {} queries do not fit {} columns", queries, columns));
    each_row(pool, rows, columns * 8, [=](int row) {
        const int seen = row % queries + columns - queries + 1;
        softmax_row(x + int64_t{row} * columns, y + int64_t{row} * columns, seen, columns);
    });
}
template <class T>
void softmax_backward(ThreadPool& pool, const T* y, const T* dy, T* dx, int rows, int columns) {
    each_row(pool, rows, columns, [=](int row) {
        const T *p = y + int64_t{row} * columns, *d = dy + int64_t{row} * columns;
        const Acc<T> sum = sum_of_row<Acc<T>>(columns, [=](int i) { return Acc<T>(p[i]) * Acc<T>(d[i]); });
        T* to = dx + int64_t{row} * columns;
        for (int i = 0; i < columns; ++i) to[i] = Acc<T>(p[i]) * (Acc<T>(d[i]) - sum);
    });
}

template <class T>
void log_softmax(ThreadPool& pool, const T* x, T* y, int rows, int columns) {
    each_row(pool, rows, columns * 8, [=](int row) {
        const T* from = x + int64_t{row} * columns;
        T* to = y + int64_t{row} * columns;
        const Acc<T> largest = largest_of_row(from, columns);
        const Acc<T> logarithm =
            log_of(powers_of_row(from, columns, largest, scratch<Acc<T>>(0, static_cast<size_t>(columns))));
        for (int i = 0; i < columns; ++i) to[i] = (Acc<T>(from[i]) - largest) - logarithm;
    });
}
template <class T>
void log_softmax_backward(ThreadPool& pool, const T* y, const T* dy, T* dx, int rows, int columns) {
    each_row(pool, rows, columns * 8, [=](int row) {
        const T *p = y + int64_t{row} * columns, *d = dy + int64_t{row} * columns;
        const Acc<T> sum = sum_of_row<Acc<T>>(columns, [=](int i) { return Acc<T>(d[i]); });
        T* to = dx + int64_t{row} * columns;
        for (int i = 0; i < columns; ++i) to[i] = Acc<T>(d[i]) - exp_of(Acc<T>(p[i])) * sum;
    });
}

std::span<const Kernel> softmax() {
    static constexpr Kernel rows[] = {
        {"softmax",
         "softmax.cu",
         "y[R,C] = softmax of each row",
         "x[rows,columns]{-16..16} >y[rows,columns] rows columns",
         FLOATS(softmax),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {1, {2, 3}}}},
        {"softmax_causal", "softmax.cu", "softmax of what each position may see, 0 elsewhere",
         "x[rows,columns]{-16..16} >y[rows,columns] rows columns queries=1+@k%@n", FLOATS(softmax_causal), "warps(rows)",
         Agreement::nearly},
        {"softmax_backward",
         "softmax.cu",
         "dx = y (dy - sum y dy)",
         "y[rows,columns]{0..1} dy[rows,columns] >dx[rows,columns] rows columns",
         FLOATS(softmax_backward),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}}},
        {"log_softmax",
         "softmax.cu",
         "y[R,C] = log softmax of each row",
         "x[rows,columns]{-16..16} >y[rows,columns] rows columns",
         FLOATS(log_softmax),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {1, {2, 3}}}},
        {"log_softmax_backward",
         "softmax.cu",
         "dx = dy - exp(y) sum dy",
         "y[rows,columns]{-16..16} dy[rows,columns] >dx[rows,columns] rows columns",
         FLOATS(log_softmax_backward),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {2, {3, 4}}}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
