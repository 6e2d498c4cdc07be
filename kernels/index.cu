// Taking elements by number, and adding them back. A tensor is seen as [outer, extent, inner], along the axis in the middle.
// index_select  y[o,i,r] = x[o,index[i],r]; with outer 1 an embedding.   Bytes: 2 outer count inner elements, count indices.
// index_order, index_add  its gradient, y[o,index[i],r] += x[o,i,r], with the same bits every time: index_order finds for each
//     position the next one with the same index, and whether it is the first; index_add's block of a first position walks
//     that chain in order and is the only writer of its row of y. No sorting, no atomics: n times the distance to the next
//     equal index in comparisons (at most n^2 / 2, typically n times the number of rows), then one addition an element.
//     Rows that nobody names stay as they are; index `skip` (an embedding's padding) is left out.
// gather        y[o,i,r] = x[o,index[o,i,r],r];  scatter_add  y = x, then y[o,index[o,i,r],r] += source[o,i,r];
//     gather_backward is scatter_add into zeros. A thread owns a column (o, r) of y and adds along it in order.
// one_hot       y[i,c] = 1 where c = index[i], else 0.   masked_fill  y = value where mask is not 0, else x; the mask repeats.

#include "include/element.h"

template <class T>
__device__ void index_select(const T* x, const int* index, T* y, int outer, int extent, int count, int inner) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;                             // launch: ceil(outer count inner / 256) blocks of 256
    if (at >= outer * count * inner) return;
    int r = at % inner, i = at / inner % count, o = at / inner / count;
    y[at] = x[(o * extent + index[i]) * inner + r];
}
FLOATS(index_select, (const T* x, const int* index, T* y, int outer, int extent, int count, int inner), x, index, y, outer, extent,
       count, inner)

extern "C" __global__ void index_order_i32(const int* index, int* next, int* first, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;                              // launch: ceil(n / 256) blocks of 256
    if (i >= n) return;
    int mine = index[i], j = i + 1, k = i - 1;
    while (j < n && index[j] != mine) ++j;
    while (k >= 0 && index[k] != mine) --k;
    next[i] = j < n ? j : -1;
    first[i] = k < 0;
}

template <class T>
__device__ void index_add(const T* x, const int* index, const int* next, const int* first, T* y, int extent, int count, int inner,
                          int skip) {
    int start = blockIdx.x, o = blockIdx.y;                                     // launch: (count, outer) blocks of 128
    int row = index[start];
    if (!first[start] || row == skip) return;
    for (int r = threadIdx.x; r < inner; r += blockDim.x) {
        Acc<T> sum = y[(o * extent + row) * inner + r];
        for (int i = start; i >= 0; i = next[i]) sum += Acc<T>(x[(o * count + i) * inner + r]);
        y[(o * extent + row) * inner + r] = sum;
    }
}
FLOATS(index_add, (const T* x, const int* index, const int* next, const int* first, T* y, int outer, int extent, int count, int inner,
       int skip), x, index, next, first, y, extent, count, inner, skip)

template <class T>
__device__ void gather(const T* x, const int* index, T* y, int outer, int extent, int count, int inner) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;                             // launch: ceil(outer count inner / 256) blocks of 256
    if (at >= outer * count * inner) return;
    int r = at % inner, o = at / inner / count;
    y[at] = x[(o * extent + index[at]) * inner + r];
}
FLOATS(gather, (const T* x, const int* index, T* y, int outer, int extent, int count, int inner), x, index, y, outer, extent, count,
       inner)

template <class T>
__device__ void add_column(const int* index, const T* source, T* y, int extent, int count, int inner, int o, int r) {
    for (int i = 0; i < count; ++i) {
        int at = (o * count + i) * inner + r, to = (o * extent + index[at]) * inner + r;
        y[to] = Acc<T>(y[to]) + Acc<T>(source[at]);
    }
}

template <class T>
__device__ void scatter_add(const T* x, const int* index, const T* source, T* y, int outer, int extent, int count, int inner) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;                         // launch: ceil(outer inner / 256) blocks of 256
    if (column >= outer * inner) return;
    int r = column % inner, o = column / inner;
    for (int i = 0; i < extent; ++i) y[(o * extent + i) * inner + r] = x[(o * extent + i) * inner + r];
    add_column(index, source, y, extent, count, inner, o, r);
}
FLOATS(scatter_add, (const T* x, const int* index, const T* source, T* y, int outer, int extent, int count, int inner), x, index,
       source, y, outer, extent, count, inner)

template <class T>
__device__ void gather_backward(const int* index, const T* dy, T* dx, int outer, int extent, int count, int inner) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;                         // launch: ceil(outer inner / 256) blocks of 256
    if (column >= outer * inner) return;
    int r = column % inner, o = column / inner;
    for (int i = 0; i < extent; ++i) dx[(o * extent + i) * inner + r] = Acc<T>(0);
    add_column(index, dy, dx, extent, count, inner, o, r);
}
FLOATS(gather_backward, (const int* index, const T* dy, T* dx, int outer, int extent, int count, int inner), index, dy, dx, outer,
       extent, count, inner)

template <class T>
__device__ void one_hot(const int* index, T* y, int count, int classes) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;                             // launch: ceil(count classes / 256) blocks of 256
    if (at < count * classes) y[at] = Acc<T>(at % classes == index[at / classes] ? 1 : 0);
}
FLOATS(one_hot, (const int* index, T* y, int count, int classes), index, y, count, classes)

template <class T>
__device__ void masked_fill(const T* x, const int* mask, T* y, Acc<T> value, int n, int mask_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;                              // launch: ceil(n / 256) blocks of 256
    if (i < n) y[i] = mask[i % mask_count] ? value : Acc<T>(x[i]);
}
FLOATS(masked_fill, (const T* x, const int* mask, T* y, Acc<T> value, int n, int mask_count), x, mask, y, value, n, mask_count)
