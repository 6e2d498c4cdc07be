// Attention without its matrix of scores (Dao et al. 2022, FlashAttention): out = softmax(scale Q K') V, a tile of 16 queries at
// a time against 16 keys at a time. The softmax is kept up as it goes: a row holds its largest score so far, the sum of its
// exponentials, and its output; a larger score scales the two down. What stays for backward is one number a row, lse = log of
// the sum: the weights are exp(score - lse), computed again.
// q, out [B,H,T,D]; k, v [B,G,S,D], query head h reads head h G / H; layout 1: [B,T,H,D] and [B,S,G,D]. lse, delta [B,H,T].
// causal: query i sees keys up to i + S - T (S >= T). D at most 128 (f64: 64).
// attention           grid (ceil(T/16), H, B), block (16, 16)
// attention_delta     grid ceil(B H T / 4), block 128: dout . out, a number a row
// attention_backward  grid (ceil(T/16) + ceil(S/16), H, B), block (16, 16): the first blocks of a row of the grid make dq, a
//                     tile of queries each; the others dk and dv, a tile of keys each (those of rows H >= G have nothing to do)
// Elements from device memory, forward: B H (T D + 2 T/16 S D + T D) where the plain form moves B H 4 T S for scores alone.
// Everything is added in a fixed order: no atomics.

#include "include/element.h"

#define TILE 16

template <class A> struct Widest { enum { d = 128 }; };                         // of D: what shared memory holds
template <> struct Widest<double> { enum { d = 64 }; };
template <class A> struct Tile { A at[TILE][Widest<A>::d + 1]; };               // + 1: a column meets all banks
template <class A> struct Square { A at[TILE][TILE + 1]; };

struct Rows {                                                                   // of one head: where row i begins
    int first, step;
};
__device__ inline Rows rows_of(int b, int head, int heads, int length, int d, int layout) {
    Rows rows = {(b * heads + head) * length * d, d};                           // [B,H,T,D]
    if (layout == 1) rows.first = (b * length * heads + head) * d, rows.step = heads * d;  // [B,T,H,D]
    return rows;
}

// Rows begin .. begin + 15 of a head, zeros beyond `length`; neighbouring threads read neighbouring elements.
template <class T>
__device__ void load(Tile<Acc<T>>& tile, const T* x, Rows rows, int begin, int length, int d) {
    int row = begin + threadIdx.y;
    for (int i = threadIdx.x; i < d; i += TILE)
        tile.at[threadIdx.y][i] = row < length ? Acc<T>(x[rows.first + row * rows.step + i]) : Acc<T>(0);
}

template <class A>
__device__ A dot(const A* a, const A* b, int d) {
    A sum = 0;
    for (int i = 0; i < d; ++i) sum += a[i] * b[i];
    return sum;
}

// sum[j] += weight[ty][l] x[l][tx + 16 j] over the 16 rows of x: the thread's columns of a product [16,16] [16,D].
template <class A>
__device__ void add_product(A* sum, const Square<A>& weight, const Tile<A>& x, int d) {
#pragma unroll
    for (int j = 0; j < Widest<A>::d / TILE; ++j)
        if (threadIdx.x + TILE * j < d)
            for (int l = 0; l < TILE; ++l) sum[j] += weight.at[threadIdx.y][l] * x.at[l][threadIdx.x + TILE * j];
}
template <class T>
__device__ void store(T* y, Rows rows, int row, int length, int d, const Acc<T>* sum, Acc<T> divisor) {
    if (row >= length) return;
#pragma unroll
    for (int j = 0; j < Widest<Acc<T>>::d / TILE; ++j)
        if (threadIdx.x + TILE * j < d) y[rows.first + row * rows.step + threadIdx.x + TILE * j] = sum[j] / divisor;
}

template <class T>
__device__ void attention(const T* q, const T* k, const T* v, T* out, Acc<T>* lse, int heads, int kv_heads, int t, int s, int d,
                          int layout, int causal, Acc<T> scale) {
    typedef Acc<T> A;
    __shared__ Tile<A> queries, keys;                                           // keys: then their values
    __shared__ Square<A> weight;
    int tx = threadIdx.x, ty = threadIdx.y, h = blockIdx.y, b = blockIdx.z, query0 = blockIdx.x * TILE, query = query0 + ty;
    Rows q_rows = rows_of(b, h, heads, t, d, layout), kv_rows = rows_of(b, h * kv_heads / heads, kv_heads, s, d, layout);
    load(queries, q, q_rows, query0, t, d);
    A result[Widest<A>::d / TILE] = {}, largest = -INFINITY, sum = 0;
    int end = causal ? min(s, query0 + TILE + s - t) : s;                       // keys that any query of the tile sees
    for (int key0 = 0; key0 < end; key0 += TILE) {
        __syncthreads();
        load(keys, k, kv_rows, key0, s, d);
        __syncthreads();
        int key = key0 + tx;
        A score = key < s && (!causal || key <= query + s - t) ? scale * dot(queries.at[ty], keys.at[tx], d) : A(-INFINITY);
        A larger = score;
        for (int step = TILE / 2; step > 0; step /= 2) larger = largest_of(larger, __shfl_xor_sync(0xffffffff, larger, step));
        larger = largest_of(larger, largest);
        A power = exp_of(score - larger), keep = exp_of(largest - larger), row_sum = power;
        for (int step = TILE / 2; step > 0; step /= 2) row_sum += __shfl_xor_sync(0xffffffff, row_sum, step);
        sum = sum * keep + row_sum;
        largest = larger;
        weight.at[ty][tx] = power;
        __syncthreads();
        load(keys, v, kv_rows, key0, s, d);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < Widest<A>::d / TILE; ++j) result[j] *= keep;
        add_product(result, weight, keys, d);
    }
    store(out, q_rows, query, t, d, result, sum);
    if (tx == 0 && query < t) lse[(b * heads + h) * t + query] = largest + log_of(sum);
}
FLOATS_WITH_MATH(attention, (const T* q, const T* k, const T* v, T* out, Acc<T>* lse, int batch, int heads, int kv_heads, int t, int s,
                 int d, int layout, int causal, Acc<T> scale), q, k, v, out, lse, heads, kv_heads, t, s, d, layout, causal, scale)

// delta = dout . out, what the softmax's gradient takes off every score's: one warp a row.
template <class T>
__device__ void attention_delta(const T* out, const T* dout, Acc<T>* delta, int batch, int heads, int t, int d, int layout) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= batch * heads * t) return;
    Rows rows = rows_of(row / t / heads, row / t % heads, heads, t, d, layout);
    int first = rows.first + row % t * rows.step;
    Acc<T> sum = 0;
    for (int i = lane; i < d; i += 32) sum += Acc<T>(out[first + i]) * Acc<T>(dout[first + i]);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0) delta[row] = sum;
}
FLOATS(attention_delta, (const T* out, const T* dout, Acc<T>* delta, int batch, int heads, int t, int d, int layout), out, dout, delta,
       batch, heads, t, d, layout)

template <class A> struct Workspace {
    Tile<A> one, two, three;
    Square<A> weight, dscore;
};

template <class T>
__device__ void query_gradient(Workspace<Acc<T>>& space, const T* q, const T* k, const T* v, const T* dout, const Acc<T>* lse,
                               const Acc<T>* delta, T* dq, int query0, int heads, int kv_heads, int t, int s, int d, int layout,
                               int causal, Acc<T> scale) {
    typedef Acc<T> A;
    Tile<A>&queries = space.one, &gradients = space.two, &keys = space.three;   // keys: first their values
    Square<A>& dscore = space.dscore;
    int tx = threadIdx.x, ty = threadIdx.y, h = blockIdx.y, b = blockIdx.z, query = query0 + ty;
    Rows q_rows = rows_of(b, h, heads, t, d, layout), kv_rows = rows_of(b, h * kv_heads / heads, kv_heads, s, d, layout);
    load(queries, q, q_rows, query0, t, d);
    load(gradients, dout, q_rows, query0, t, d);
    int row = (b * heads + h) * t + min(query, t - 1);
    A result[Widest<A>::d / TILE] = {}, row_lse = lse[row], row_delta = delta[row];
    int end = causal ? min(s, query0 + TILE + s - t) : s;
    for (int key0 = 0; key0 < end; key0 += TILE) {
        __syncthreads();
        load(keys, v, kv_rows, key0, s, d);
        __syncthreads();
        A dweight = dot(gradients.at[ty], keys.at[tx], d);
        __syncthreads();
        load(keys, k, kv_rows, key0, s, d);
        __syncthreads();
        int key = key0 + tx;
        A weight = key < s && (!causal || key <= query + s - t) ? exp_of(scale * dot(queries.at[ty], keys.at[tx], d) - row_lse) : A(0);
        dscore.at[ty][tx] = weight * (dweight - row_delta) * scale;
        __syncthreads();
        add_product(result, dscore, keys, d);
    }
    store(dq, q_rows, query, t, d, result, A(1));
}
template <class T>
__device__ void key_gradients(Workspace<Acc<T>>& space, const T* q, const T* k, const T* v, const T* dout, const Acc<T>* lse,
                              const Acc<T>* delta, T* dk, T* dv, int key0, int heads, int kv_heads, int t, int s, int d, int layout,
                              int causal, Acc<T> scale) {
    typedef Acc<T> A;
    Tile<A>&keys = space.one, &values = space.two, &queries = space.three;      // queries: in between their gradients
    Square<A>&weight = space.weight, &dscore = space.dscore;                    // [key, query]
    int tx = threadIdx.x, ty = threadIdx.y, g = blockIdx.y, b = blockIdx.z, key = key0 + ty;
    Rows kv_rows = rows_of(b, g, kv_heads, s, d, layout);
    load(keys, k, kv_rows, key0, s, d);
    load(values, v, kv_rows, key0, s, d);
    A key_sum[Widest<A>::d / TILE] = {}, value_sum[Widest<A>::d / TILE] = {};
    int group = heads / kv_heads, begin = causal ? max(0, key0 - (s - t)) / TILE * TILE : 0;
    for (int h = g * group; h < (g + 1) * group; ++h) {
        Rows q_rows = rows_of(b, h, heads, t, d, layout);
        for (int query0 = begin; query0 < t; query0 += TILE) {
            __syncthreads();
            load(queries, q, q_rows, query0, t, d);
            __syncthreads();
            int query = query0 + tx, row = (b * heads + h) * t + min(query, t - 1);
            bool sees = query < t && key < s && (!causal || key <= query + s - t);
            A p = sees ? exp_of(scale * dot(keys.at[ty], queries.at[tx], d) - lse[row]) : A(0);
            weight.at[ty][tx] = p;
            __syncthreads();
            load(queries, dout, q_rows, query0, t, d);
            __syncthreads();
            dscore.at[ty][tx] = p * (dot(values.at[ty], queries.at[tx], d) - delta[row]) * scale;
            add_product(value_sum, weight, queries, d);
            __syncthreads();
            load(queries, q, q_rows, query0, t, d);
            __syncthreads();
            add_product(key_sum, dscore, queries, d);
        }
    }
    store(dk, kv_rows, key, s, d, key_sum, A(1));
    store(dv, kv_rows, key, s, d, value_sum, A(1));
}
template <class T>
__device__ void attention_backward(const T* q, const T* k, const T* v, const T* dout, const Acc<T>* lse, const Acc<T>* delta, T* dq,
                                   T* dk, T* dv, int heads, int kv_heads, int t, int s, int d, int layout, int causal, Acc<T> scale) {
    __shared__ Workspace<Acc<T>> space;
    int query_tiles = (t + TILE - 1) / TILE, block = blockIdx.x;
    if (block < query_tiles)
        query_gradient(space, q, k, v, dout, lse, delta, dq, block * TILE, heads, kv_heads, t, s, d, layout, causal, scale);
    else if (blockIdx.y < kv_heads)
        key_gradients(space, q, k, v, dout, lse, delta, dk, dv, (block - query_tiles) * TILE, heads, kv_heads, t, s, d, layout, causal,
                      scale);
}
FLOATS_WITH_MATH(attention_backward, (const T* q, const T* k, const T* v, const T* dout, const Acc<T>* lse, const Acc<T>* delta, T* dq,
                 T* dk, T* dv, int batch, int heads, int kv_heads, int t, int s, int d, int layout, int causal, Acc<T> scale), q, k, v,
                 dout, lse, delta, dq, dk, dv, heads, kv_heads, t, s, d, layout, causal, scale)
