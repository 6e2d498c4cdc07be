// A linear layer's bias and its gradient (kernels/bias.cu).
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void add_bias(ThreadPool& pool, const T* x, const T* bias, T* y, int rows, int columns) {
    each_row(pool, rows, columns, [=](int row) {
        const T* from = x + int64_t{row} * columns;
        T* to = y + int64_t{row} * columns;
#pragma GCC ivdep
        for (int i = 0; i < columns; ++i) to[i] = Acc<T>(from[i]) + Acc<T>(bias[i]);
    });
}

template <class T>
void bias_grad(ThreadPool&, const T* dy, T* dbias, int rows, int columns) {
    const auto width = static_cast<size_t>(std::max(columns, 0));
    Acc<T>* partial = scratch<Acc<T>>(0, 8 * width);  // [8,C]: rows r, r + 8, ...
    std::fill_n(partial, 8 * width, Acc<T>(0));
    for (int row = 0; row < rows; ++row, dy += columns) {
        Acc<T>* sum = partial + static_cast<size_t>(row % 8) * width;
        for (int i = 0; i < columns; ++i) sum[i] += Acc<T>(dy[i]);
    }
    for (size_t i = 0; i < width; ++i) {
        Acc<T> sum = partial[i];
        for (size_t j = 1; j < 8; ++j) sum += partial[j * width + i];
        dbias[i] = sum;
    }
}

std::span<const Kernel> bias() {
    static constexpr Kernel rows[] = {
        {"add_bias", "bias.cu", "y[R,C] = x[R,C] + bias[C]", "x[rows,columns] bias[columns] >y[rows,columns] rows columns",
         FLOATS(add_bias), "threads(rows*columns)"},
        {"bias_grad",
         "bias.cu",
         "dbias[C] = sum over the rows of dy[R,C]",
         "dy[rows,columns] >dbias[columns] rows columns",
         FLOATS(bias_grad),
         "grid(cover(columns,32),1,1,32,8)",
         Agreement::to_the_bit,
         {.loaded_once = {0, {2, 3}}}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
