// Reductions over some axes, and ops along one. Kept axes have extents e and strides s of x, reduced ones f and g; one thread
// an output, which walks its elements in index order, so that the last bit is the same every time. Launch ceil(n / 256)
// blocks of 256, n outputs of `count` elements each.  Bytes: x and y once (the gradients: x, y, dy and dx).
//   amax, amin      a NaN wins. Their gradient is shared evenly by all elements that reach the extreme.
//   var             sum of (x - mean)^2 / (count - correction), in two passes
//   argmax, argmin  the first index that reaches the extreme (of the flattened reduced axes), as i64
//   sum_rows        y[R] = sums of x[R,C], mean_rows divides by C: one block of 256 a row, a tree in shared memory
//   cumsum          running sums along the middle axis of x[outer, extent, inner], from the end where `reverse`
//   prod            products; prod_backward multiplies dy by the others' product, so that a zero does no harm

#include "include/element.h"
#include "include/walk.h"

struct Larger { template <class A> static __device__ bool than(A a, A b) { return a > b || (a != a && b == b); } };
struct Smaller { template <class A> static __device__ bool than(A a, A b) { return a < b || (a != a && b == b); } };

#define GROUP                                                                                                             \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                        \
    if (i >= n) return;                                                                                                   \
    const long long from = place(i, 6, THE_SIX(e), THE_SIX(s));
#define ELEMENT(j) (from + place(j, 6, THE_SIX(f), THE_SIX(g)))
#define REDUCED (const T* x, T* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g))
#define REDUCED_ARGUMENTS x, y, n, count, THE_SIX(e), THE_SIX(s), THE_SIX(f), THE_SIX(g)

template <class T, class Better>
__device__ int best_of(const T* x, long long from, int count, SIX(f), SIX(g)) {
    int best = 0;
    Acc<T> value = x[ELEMENT(0)];
    for (int j = 1; j < count; ++j) {
        Acc<T> other = x[ELEMENT(j)];
        if (Better::than(other, value)) value = other, best = j;
    }
    return best;
}

template <class T> __device__ void amax REDUCED {
    GROUP
    y[i] = x[ELEMENT((best_of<T, Larger>(x, from, count, THE_SIX(f), THE_SIX(g))))];
}
FLOATS(amax, REDUCED, REDUCED_ARGUMENTS)
template <class T> __device__ void amin REDUCED {
    GROUP
    y[i] = x[ELEMENT((best_of<T, Smaller>(x, from, count, THE_SIX(f), THE_SIX(g))))];
}
FLOATS(amin, REDUCED, REDUCED_ARGUMENTS)

template <class T>
__device__ void extreme_backward(const T* x, const T* y, const T* dy, T* dx, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)) {
    GROUP
    Acc<T> extreme = y[i];
    int reached = 0;
    for (int j = 0; j < count; ++j) reached += Acc<T>(x[ELEMENT(j)]) == extreme;
    for (int j = 0; j < count; ++j) {
        long long at = ELEMENT(j);
        dx[at] = Acc<T>(x[at]) == extreme ? Acc<T>(dy[i]) / reached : Acc<T>(0);
    }
}
FLOATS(extreme_backward, (const T* x, const T* y, const T* dy, T* dx, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)), x, y, dy,
       dx, n, count, THE_SIX(e), THE_SIX(s), THE_SIX(f), THE_SIX(g))

template <class T> __device__ void argmax(const T* x, long long* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)) {
    GROUP
    y[i] = best_of<T, Larger>(x, from, count, THE_SIX(f), THE_SIX(g));
}
FLOATS(argmax, (const T* x, long long* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)), REDUCED_ARGUMENTS)
template <class T> __device__ void argmin(const T* x, long long* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)) {
    GROUP
    y[i] = best_of<T, Smaller>(x, from, count, THE_SIX(f), THE_SIX(g));
}
FLOATS(argmin, (const T* x, long long* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)), REDUCED_ARGUMENTS)

template <class T>
__device__ Acc<T> mean_of(const T* x, long long from, int count, SIX(f), SIX(g)) {
    Acc<T> sum = 0;
    for (int j = 0; j < count; ++j) sum += Acc<T>(x[ELEMENT(j)]);
    return sum / count;
}
template <class T>
__device__ void var(const T* x, T* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g), int correction) {
    GROUP
    Acc<T> mean = mean_of(x, from, count, THE_SIX(f), THE_SIX(g)), sum = 0;
    for (int j = 0; j < count; ++j) {
        Acc<T> off = Acc<T>(x[ELEMENT(j)]) - mean;
        sum += off * off;
    }
    y[i] = sum / (count - correction);
}
FLOATS(var, (const T* x, T* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g), int correction), REDUCED_ARGUMENTS, correction)
template <class T>
__device__ void var_backward(const T* x, const T* dy, T* dx, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g), int correction) {
    GROUP
    Acc<T> mean = mean_of(x, from, count, THE_SIX(f), THE_SIX(g)), scale = 2 * Acc<T>(dy[i]) / (count - correction);
    for (int j = 0; j < count; ++j) dx[ELEMENT(j)] = scale * (Acc<T>(x[ELEMENT(j)]) - mean);
}
FLOATS(var_backward, (const T* x, const T* dy, T* dx, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g), int correction), x, dy, dx,
       n, count, THE_SIX(e), THE_SIX(s), THE_SIX(f), THE_SIX(g), correction)

template <class T> __device__ void prod REDUCED {
    GROUP
    Acc<T> product = 1;
    for (int j = 0; j < count; ++j) product *= Acc<T>(x[ELEMENT(j)]);
    y[i] = product;
}
FLOATS(prod, REDUCED, REDUCED_ARGUMENTS)
template <class T>
__device__ void prod_backward(const T* x, const T* dy, T* dx, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)) {
    GROUP
    for (int j = 0; j < count; ++j) {
        Acc<T> others = dy[i];
        for (int l = 0; l < count; ++l)
            if (l != j) others *= Acc<T>(x[ELEMENT(l)]);
        dx[ELEMENT(j)] = others;
    }
}
FLOATS(prod_backward, (const T* x, const T* dy, T* dx, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)), x, dy, dx, n, count,
       THE_SIX(e), THE_SIX(s), THE_SIX(f), THE_SIX(g))

template <class T>
__device__ Acc<T> row_sum(const T* x, int columns) {
    __shared__ Acc<T> partial[256];
    int t = threadIdx.x;
    Acc<T> sum = 0;
    for (int i = t; i < columns; i += 256) sum += Acc<T>(x[i]);
    partial[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    __syncthreads();
    return partial[0];
}
template <class T> __device__ void sum_rows(const T* x, T* y, int rows, int columns) {
    Acc<T> sum = row_sum(x + (long long)blockIdx.x * columns, columns);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
FLOATS(sum_rows, (const T* x, T* y, int rows, int columns), x, y, rows, columns)
template <class T> __device__ void mean_rows(const T* x, T* y, int rows, int columns) {
    Acc<T> sum = row_sum(x + (long long)blockIdx.x * columns, columns);
    if (threadIdx.x == 0) y[blockIdx.x] = sum / columns;
}
FLOATS(mean_rows, (const T* x, T* y, int rows, int columns), x, y, rows, columns)

template <class T>
__device__ void cumsum(const T* x, T* y, int outer, int extent, int inner, int reverse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;                              // launch: ceil(outer inner / 256) blocks of 256
    if (i >= outer * inner) return;
    long long at = (long long)(i / inner) * extent * inner + i % inner, step = inner;
    if (reverse) at += (long long)(extent - 1) * inner, step = -step;
    Acc<T> sum = 0;
    for (int j = 0; j < extent; ++j, at += step) {
        sum += Acc<T>(x[at]);
        y[at] = sum;
    }
}
FLOATS(cumsum, (const T* x, T* y, int outer, int extent, int inner, int reverse), x, y, outer, extent, inner, reverse)
