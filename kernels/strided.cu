// Tensors that are walked by strides: views (a transposed matrix, a slice, a broadcast row) have no elements of their own.
// A shape is six extents, leading ones in front; a stride says how many elements apart neighbours along an axis are, 0 for
// an axis that is broadcast.
//   copy_strided: y[n] = x at its strides, y contiguous.          Launch ceil(n / 256) blocks of 256.  Bytes: 2 n elements.
//   add_strided:  y at its strides += x[n], x contiguous. No two indices may meet in y (a slice's gradient).     3 n elements.
//   sum_strided:  y[n] = the sums of x over other axes (f, g: their extents and strides), each in index order, so that the
//                 last bit is the same every time: one thread a sum.

#include "include/element.h"

#define SIX(x) int x##0, int x##1, int x##2, int x##3, int x##4, int x##5
#define THE_SIX(x) x##0, x##1, x##2, x##3, x##4, x##5

// Where index i of a shape with extents e lies, with strides s; the last `rank` axes count.
__device__ inline long long place(int i, int rank, SIX(e), SIX(s)) {
    long long at = 0;
    if (rank > 1) at += (long long)(i % e5) * s5, i /= e5;
    if (rank > 2) at += (long long)(i % e4) * s4, i /= e4;
    if (rank > 3) at += (long long)(i % e3) * s3, i /= e3;
    if (rank > 4) at += (long long)(i % e2) * s2, i /= e2;
    if (rank > 5) at += (long long)(i % e1) * s1, i /= e1;
    int first = rank > 5 ? s0 : rank > 4 ? s1 : rank > 3 ? s2 : rank > 2 ? s3 : rank > 1 ? s4 : s5;
    return at + (long long)i * first;
}

template <class T>
__device__ void copy_strided(const T* x, T* y, int n, int rank, SIX(e), SIX(s)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[place(i, rank, THE_SIX(e), THE_SIX(s))];
}
FLOATS_AND_INTEGERS(copy_strided, (const T* x, T* y, int n, int rank, SIX(e), SIX(s)), x, y, n, rank, THE_SIX(e), THE_SIX(s))

template <class T>
__device__ void add_strided(const T* x, T* y, int n, int rank, SIX(e), SIX(s)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long at = place(i, rank, THE_SIX(e), THE_SIX(s));
    y[at] = Acc<T>(y[at]) + Acc<T>(x[i]);
}
FLOATS(add_strided, (const T* x, T* y, int n, int rank, SIX(e), SIX(s)), x, y, n, rank, THE_SIX(e), THE_SIX(s))

template <class T>
__device__ void sum_strided(const T* x, T* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T* from = x + place(i, 6, THE_SIX(e), THE_SIX(s));
    Acc<T> sum = 0;
    for (int j = 0; j < count; ++j) sum += Acc<T>(from[place(j, 6, THE_SIX(f), THE_SIX(g))]);
    y[i] = sum;
}
FLOATS(sum_strided, (const T* x, T* y, int n, int count, SIX(e), SIX(s), SIX(f), SIX(g)), x, y, n, count, THE_SIX(e), THE_SIX(s),
       THE_SIX(f), THE_SIX(g))
