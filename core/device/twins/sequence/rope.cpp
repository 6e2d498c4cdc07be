// Rotary positions (kernels/rope.cu).
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void rope(ThreadPool& pool, const T* x, const T* table, T* y, int rows, int columns, int inner, int positions, int start,
          int layout, int turn) {
    const int half = columns / 2;
    const auto way = static_cast<Acc<T>>(turn);
    each_row(pool, rows, columns * 2, [=](int row) {
        const T* angle = table + (int64_t{start} + row / inner % positions) * columns;
        const T* from = x + int64_t{row} * columns;
        T* to = y + int64_t{row} * columns;
        const auto turned = [&](int first, int second, int pair) {
            const Acc<T> cosine = angle[2 * pair], sine = way * Acc<T>(angle[2 * pair + 1]);
            const Acc<T> a = from[first], b = from[second];
            to[first] = a * cosine - b * sine;
            to[second] = a * sine + b * cosine;
        };
        if (layout == 0)
            for (int i = 0; i < half; ++i) turned(2 * i, 2 * i + 1, i);
        else
            for (int i = 0; i < half; ++i) turned(i, i + half, i);
    });
}

std::span<const Kernel> rope() {
    static constexpr Kernel rows[] = {
        {"rope",
         "rope.cu",
         "pairs of a row turned by its position's angles",
         "x[rows,columns] table[positions+start,columns] >y[rows,columns] rows=2*min(@m,20)*(1+@k%3) columns=2*min(@n,40) "
         "inner=1+@k%3 positions=min(@m,20) start=3 layout=@k%2 turn=@m%2*2-1",
         FLOATS(rope),
         "threads(rows*columns/2)",
         Agreement::to_the_bit,
         {.stored_once = {2, {3, 4}}}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
