// Reductions over some axes, and running sums (kernels/axes.cu).
#include "core/device/twins/walk.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

namespace {
using Six = std::array<int64_t, 6>;

// The elements that one output is made of, in index order.
struct Group {
    Walk<1> walk;

    Group(const Six& extents, const Six& strides) {
        for (size_t i = 0; i < 6; ++i) walk.add(extents[i], {strides[i]});
    }
    template <class Each>
    void each(int64_t from, const Each& visit) const {
        const int64_t rows = walk.outer(), extent = walk.inner().extent, stride = walk.inner().strides[0];
        int64_t index = 0;
        for (int64_t row = 0; row < rows; ++row) {
            const int64_t at = from + walk.offsets(row)[0];
            for (int64_t i = 0; i < extent; ++i) visit(at + i * stride, index++);
        }
    }
};

int64_t place(int64_t i, const Six& extents, const Six& strides) {
    int64_t at = 0;
    for (size_t axis = 5; axis > 0; --axis) {
        at += i % extents[axis] * strides[axis];
        i /= extents[axis];
    }
    return at + i * strides[0];
}

// reduce(output, from, group) for every output.
template <class Reduce>
void outputs(ThreadPool& pool, int n, int count, const Six& e, const Six& s, const Six& f, const Six& g,
             const Reduce& reduce) {
    const Group group(f, g);
    each_row(pool, n, count, [&](int i) { reduce(i, place(i, e, s), group); });
}

struct Larger {
    template <class A>
    static bool than(A a, A b) {
        return a > b || (a != a && b == b);
    }
};
struct Smaller {
    template <class A>
    static bool than(A a, A b) {
        return a < b || (a != a && b == b);
    }
};
struct Best {
    int64_t at = 0, index = 0;
};
template <class T, class Better>
Best best_of(const T* x, int64_t from, const Group& group) {
    Best best{from, 0};
    Acc<T> value = x[from];
    group.each(from, [&](int64_t at, int64_t index) {
        const Acc<T> other = x[at];
        if (Better::than(other, value)) {
            value = other;
            best = {at, index};
        }
    });
    return best;
}
template <class T>
Acc<T> mean_of(const T* x, int64_t from, const Group& group, int count) {
    Acc<T> sum = 0;
    group.each(from, [&](int64_t at, int64_t) { sum += Acc<T>(x[at]); });
    return sum / static_cast<Acc<T>>(count);
}
}  // namespace

#define AXES                                                                                                          \
    int n, int count, int e0, int e1, int e2, int e3, int e4, int e5, int s0, int s1, int s2, int s3, int s4, int s5, \
        int f0, int f1, int f2, int f3, int f4, int f5, int g0, int g1, int g2, int g3, int g4, int g5
#define THE_AXES                                                                                           \
    n, count, Six{e0, e1, e2, e3, e4, e5}, Six{s0, s1, s2, s3, s4, s5}, Six{f0, f1, f2, f3, f4, f5}, Six { \
        g0, g1, g2, g3, g4, g5                                                                             \
    }

template <class T>
void amax(ThreadPool& pool, const T* x, T* y, AXES) {
    outputs(pool, THE_AXES,
            [=](int i, int64_t from, const Group& group) { y[i] = x[best_of<T, Larger>(x, from, group).at]; });
}
template <class T>
void amin(ThreadPool& pool, const T* x, T* y, AXES) {
    outputs(pool, THE_AXES,
            [=](int i, int64_t from, const Group& group) { y[i] = x[best_of<T, Smaller>(x, from, group).at]; });
}
template <class T>
void argmax(ThreadPool& pool, const T* x, int64_t* y, AXES) {
    outputs(pool, THE_AXES,
            [=](int i, int64_t from, const Group& group) { y[i] = best_of<T, Larger>(x, from, group).index; });
}
template <class T>
void argmin(ThreadPool& pool, const T* x, int64_t* y, AXES) {
    outputs(pool, THE_AXES,
            [=](int i, int64_t from, const Group& group) { y[i] = best_of<T, Smaller>(x, from, group).index; });
}
template <class T>
void extreme_backward(ThreadPool& pool, const T* x, const T* y, const T* dy, T* dx, AXES) {
    outputs(pool, THE_AXES, [=](int i, int64_t from, const Group& group) {
        const Acc<T> extreme = y[i];
        int reached = 0;
        group.each(from, [&](int64_t at, int64_t) { reached += Acc<T>(x[at]) == extreme; });
        const Acc<T> share = Acc<T>(dy[i]) / static_cast<Acc<T>>(reached);
        group.each(from, [&](int64_t at, int64_t) { dx[at] = Acc<T>(x[at]) == extreme ? share : Acc<T>(0); });
    });
}
template <class T>
void var(ThreadPool& pool, const T* x, T* y, AXES, int correction) {
    outputs(pool, THE_AXES, [=](int i, int64_t from, const Group& group) {
        const Acc<T> mean = mean_of(x, from, group, count);
        Acc<T> sum = 0;
        group.each(from, [&](int64_t at, int64_t) {
            const Acc<T> off = Acc<T>(x[at]) - mean;
            sum += off * off;
        });
        y[i] = sum / static_cast<Acc<T>>(count - correction);
    });
}
template <class T>
void var_backward(ThreadPool& pool, const T* x, const T* dy, T* dx, AXES, int correction) {
    outputs(pool, THE_AXES, [=](int i, int64_t from, const Group& group) {
        const Acc<T> mean = mean_of(x, from, group, count);
        const Acc<T> scale = 2 * Acc<T>(dy[i]) / static_cast<Acc<T>>(count - correction);
        group.each(from, [&](int64_t at, int64_t) { dx[at] = scale * (Acc<T>(x[at]) - mean); });
    });
}
template <class T>
void prod(ThreadPool& pool, const T* x, T* y, AXES) {
    outputs(pool, THE_AXES, [=](int i, int64_t from, const Group& group) {
        Acc<T> product = 1;
        group.each(from, [&](int64_t at, int64_t) { product *= Acc<T>(x[at]); });
        y[i] = product;
    });
}
template <class T>
void prod_backward(ThreadPool& pool, const T* x, const T* dy, T* dx, AXES) {
    outputs(pool, THE_AXES, [=](int i, int64_t from, const Group& group) {
        group.each(from, [&](int64_t at, int64_t index) {
            Acc<T> others = dy[i];
            group.each(from, [&](int64_t other, int64_t which) {
                if (which != index) others *= Acc<T>(x[other]);
            });
            dx[at] = others;
        });
    });
}

template <class T>
Acc<T> row_sum(const T* x, int columns) {
    Acc<T> partial[256] = {};
    int i = 0;
    for (; i + 256 <= columns; i += 256)
        for (int j = 0; j < 256; ++j) partial[j] += Acc<T>(x[i + j]);
    for (int j = 0; i + j < columns; ++j) partial[j] += Acc<T>(x[i + j]);
    return tree_sum(partial, 256);
}
template <class T>
void sum_rows(ThreadPool& pool, const T* x, T* y, int rows, int columns) {
    each_row(pool, rows, columns, [=](int row) { y[row] = row_sum(x + int64_t{row} * columns, columns); });
}
template <class T>
void mean_rows(ThreadPool& pool, const T* x, T* y, int rows, int columns) {
    each_row(pool, rows, columns,
             [=](int row) { y[row] = row_sum(x + int64_t{row} * columns, columns) / static_cast<Acc<T>>(columns); });
}

template <class T>
void cumsum(ThreadPool& pool, const T* x, T* y, int outer, int extent, int inner, int reverse) {
    each_row(pool, outer, extent * inner, [=](int block) {
        for (int64_t line = 0; line < inner; ++line) {
            const int64_t first = int64_t{block} * extent * inner + line;
            Acc<T> sum = 0;
            for (int64_t j = 0; j < extent; ++j) {
                const int64_t at = first + (reverse ? extent - 1 - j : j) * inner;
                sum += Acc<T>(x[at]);
                y[at] = sum;
            }
        }
    });
}

std::span<const Kernel> axes() {
    static constexpr Kernel rows[] = {
        {"amax", "axes.cu", "y[n] = the largest of x over other axes", "x[" REACH_OF_AXES "] >y[n] " AXES_OF_CASE("@k"),
         FLOATS(amax)},
        {"amin", "axes.cu", "y[n] = the smallest of x over other axes", "x[" REACH_OF_AXES "] >y[n] " AXES_OF_CASE("@k"),
         FLOATS(amin)},
        {"argmax", "axes.cu", "y[n] (i64) = which of x over other axes is the largest",
         "x[" REACH_OF_AXES "] >y[n]:i64 " AXES_OF_CASE("@k"), FLOATS(argmax)},
        {"argmin", "axes.cu", "y[n] (i64) = which of x over other axes is the smallest",
         "x[" REACH_OF_AXES "] >y[n]:i64 " AXES_OF_CASE("@k"), FLOATS(argmin)},
        {"var", "axes.cu", "y[n] = variance of x over other axes",
         "x[" REACH_OF_AXES "] >y[n] " AXES_OF_CASE("@k") " correction=0", FLOATS(var), "threads(n)", Agreement::nearly},
        {"var_backward", "axes.cu", "dx = 2 dy (x - mean) / (count - correction)",
         "x[" REACH_OF_AXES "] dy[n] >dx[" REACH_OF_AXES "] " AXES_OF_CASE("@k") " correction=0", FLOATS(var_backward),
         "threads(n)", Agreement::nearly},
        {"prod", "axes.cu", "y[n] = products of x over other axes",
         "x[" REACH_OF_AXES "]{0.97..1.03} >y[n] " AXES_OF_CASE("@k"), FLOATS(prod), "threads(n)", Agreement::nearly},
        {"prod_backward", "axes.cu", "dx = dy times the others' product",
         "x[" REACH_OF_AXES "]{0.97..1.03} dy[n] >dx[" REACH_OF_AXES "] " AXES_OF_CASE("1"), FLOATS(prod_backward),
         "threads(n)", Agreement::nearly},
        {"sum_rows",
         "axes.cu",
         "y[R] = sums of x[R,C]",
         "x[rows,columns] >y[rows] rows columns",
         FLOATS(sum_rows),
         "blocks(rows)",
         Agreement::to_the_bit,
         {.stored_once = {1, {2}}, .loaded_once = {0, {2, 3}}}},
        {"mean_rows",
         "axes.cu",
         "y[R] = means of x[R,C]",
         "x[rows,columns] >y[rows] rows columns",
         FLOATS(mean_rows),
         "blocks(rows)",
         Agreement::to_the_bit,
         {.stored_once = {1, {2}}, .loaded_once = {0, {2, 3}}}},
        {"cumsum", "axes.cu", "y = running sums along the middle axis of x[outer, extent, inner]",
         "x[outer,extent,inner] >y[outer,extent,inner] outer=@m extent=@k inner=@n reverse=1", FLOATS(cumsum),
         "threads(outer*inner)"},
        {"extreme_backward", "axes.cu", "dx = dy, shared by the elements of x that reach y",
         "x[" REACH_OF_AXES "]{-2..3,whole} y[n]{=1} dy[n] >dx[" REACH_OF_AXES "] " AXES_OF_CASE("@k"),
         FLOATS(extreme_backward)},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
