// Attention (kernels/attention.cu). A thread takes a key head of one sequence: it lays out K, V and their transposes once,
// with rows padded to whole vectors, and walks the queries 24 at a time. The scores of such a tile stay in cache; a causal
// tile ends at the last key that it sees. Products are 6 x 2 vectors of sums along all of the inner extent.
#include <limits>
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

namespace attention_parts {  // named: the AVX2 copy includes this file
using Size = std::ptrdiff_t;

template <class A>
struct Lanes {
#if defined(__AVX512F__)
    static constexpr Size bytes = 64;
#else
    static constexpr Size bytes = 32;
#endif
    static constexpr Size count = bytes / sizeof(A), strip = 2 * count;
    static constexpr Size keys = strip < 16 ? 16 : strip;  // rows of scores are whole multiples of it
    typedef A Vector __attribute__((vector_size(bytes), aligned(sizeof(A)), may_alias));
};

template <class A>
[[gnu::always_inline]] inline void multiply_add(typename Lanes<A>::Vector& sum, const typename Lanes<A>::Vector& a,
                                                const typename Lanes<A>::Vector& b) {
    [[maybe_unused]] typedef typename Lanes<A>::Vector Vector;
#if defined(__AVX512F__)
    if constexpr (sizeof(A) == 4)
        sum = Vector(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(sum)));
    else
        sum = Vector(_mm512_fmadd_pd(__m512d(a), __m512d(b), __m512d(sum)));
#elif defined(__FMA__)
    if constexpr (sizeof(A) == 4)
        sum = Vector(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(sum)));
    else
        sum = Vector(_mm256_fmadd_pd(__m256d(a), __m256d(b), __m256d(sum)));
#else
    sum += a * b;
#endif
}

template <class A>
struct View {  // element (i, l) at data[i * row + l * column]
    const A* data;
    Size row, column;
};

// `rows` rows of C from column 0, two vectors wide: C (+)= A B.
template <int rows, class A>
void small_product(View<A> a, const A* b, Size b_row, A* c, Size c_row, Size k, bool add) {
    using Vector = typename Lanes<A>::Vector;
    constexpr Size width = Lanes<A>::count;
    Vector sum[rows][2];
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] = add ? *reinterpret_cast<const Vector*>(c + i * c_row + j * width) : Vector{};
    for (Size l = 0; l < k; ++l, b += b_row) {
        const Vector b0 = *reinterpret_cast<const Vector*>(b), b1 = *reinterpret_cast<const Vector*>(b + width);
#pragma GCC unroll 6
        for (int i = 0; i < rows; ++i) {
            const A value = a.data[i * a.row + l * a.column];
            const Vector repeated = value - Vector{};
            multiply_add<A>(sum[i][0], repeated, b0);
            multiply_add<A>(sum[i][1], repeated, b1);
        }
    }
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < 2; ++j) *reinterpret_cast<Vector*>(c + i * c_row + j * width) = sum[i][j];
}

// C[m,n] (+)= A[m,k] B[k,n]; n: whole strips.
template <class A>
void product(View<A> a, const A* b, Size b_row, A* c, Size c_row, Size m, Size n, Size k, bool add) {
    for (Size j = 0; j < n; j += Lanes<A>::strip) {
        Size i = 0;
        const auto rest = [&] { return View<A>{a.data + i * a.row, a.row, a.column}; };
        for (; i + 6 <= m; i += 6) small_product<6>(rest(), b + j, b_row, c + i * c_row + j, c_row, k, add);
        for (; i + 2 <= m; i += 2) small_product<2>(rest(), b + j, b_row, c + i * c_row + j, c_row, k, add);
        for (; i < m; ++i) small_product<1>(rest(), b + j, b_row, c + i * c_row + j, c_row, k, add);
    }
}

constexpr Size tile = 24;  // queries

struct Shape {  // of a launch
    int batch, heads, kv_heads, t, s, d, layout, causal;

    Size first(int b, int head, int all, int length) const {
        return layout == 1 ? (Size{b} * length * all + head) * d : (Size{b} * all + head) * length * d;
    }
    Size step(int all) const { return layout == 1 ? Size{all} * d : d; }
    // Keys that query i sees.
    Size seen(Size i) const { return causal ? std::min<Size>(s, i + s - t + 1) : s; }
};

Size padded(Size size, Size strip) {
    return (size + strip - 1) / strip * strip;
}

template <class T>
void copy_rows(const T* from, Size step, Size rows, Size d, Acc<T>* to, Size width) {  // [rows, width], zeros behind d
    for (Size i = 0; i < rows; ++i) {
        for (Size j = 0; j < d; ++j) to[i * width + j] = from[i * step + j];
        std::fill(to + i * width + d, to + (i + 1) * width, Acc<T>(0));
    }
}
template <class T>
void copy_transposed(const T* from, Size step, Size rows, Size d, Acc<T>* to, Size width) {  // [d, width]
    for (Size i0 = 0; i0 < rows; i0 += 16)
        for (Size j = 0; j < d; ++j)
            for (Size i = i0; i < std::min(rows, i0 + 16); ++i) to[j * width + i] = from[i * step + j];
    for (Size j = 0; j < d; ++j) std::fill(to + j * width + rows, to + (j + 1) * width, Acc<T>(0));
}
template <class T>
void copy_out(const Acc<T>* from, Size width, Size rows, Size d, T* to, Size step) {
    for (Size i = 0; i < rows; ++i)
        for (Size j = 0; j < d; ++j) to[i * step + j] = static_cast<T>(from[i * width + j]);
}

// One row of scores to the powers of their distance from the largest; `seen` of them, zeros to `width`. Returns
// {largest, sum}. Sixteen sums side by side.
template <class A>
std::pair<A, A> powers(A* score, Size seen, Size width, A scale) {
    constexpr A low = -std::numeric_limits<A>::infinity();
    const Size whole = padded(seen, 16);
    for (Size j = 0; j < seen; ++j) score[j] *= scale;
    std::fill(score + seen, score + whole, low);
    A lanes[16];
    std::copy_n(score, 16, lanes);
    for (Size j = 16; j < whole; j += 16)
        for (Size l = 0; l < 16; ++l) lanes[l] = score[j + l] > lanes[l] ? score[j + l] : lanes[l];
    A largest = lanes[0];
    for (Size l = 1; l < 16; ++l) largest = lanes[l] > largest ? lanes[l] : largest;
    std::fill_n(lanes, 16, A(0));
    for (Size j = 0; j < whole; j += 16)
        for (Size l = 0; l < 16; ++l) {
            const A power = exp_of(score[j + l] - largest);
            score[j + l] = power;
            lanes[l] += power;
        }
    std::fill(score + whole, score + std::max(whole, width), A(0));
    return {largest, tree_sum(lanes, 16)};
}

template <class T, class Work>
void each_key_head(ThreadPool& pool, const Shape& shape, const Work& work) {
    each_row(pool, shape.batch * shape.kv_heads, 1 << 14,
             [&](int item) { work(item / shape.kv_heads, item % shape.kv_heads); });
}
}  // namespace attention_parts
using namespace attention_parts;

template <class T>
void attention(ThreadPool& pool, const T* q, const T* k, const T* v, T* out, Acc<T>* lse, int batch, int heads, int kv_heads,
               int t, int s, int d, int layout, int causal, Acc<T> scale) {
    using A = Acc<T>;
    const Shape shape{batch, heads, kv_heads, t, s, d, layout, causal};
    const Size wide_s = padded(s, Lanes<A>::keys), wide_d = padded(d, Lanes<A>::strip), q_step = shape.step(heads);
    each_key_head<T>(pool, shape, [=](int b, int g) {
        A* turned_k = scratch<A>(0, static_cast<size_t>(d * wide_s + s * wide_d + tile * (wide_s + 2 * wide_d)));
        A* values = turned_k + d * wide_s;
        A* score = values + s * wide_d;
        A* queries = score + tile * wide_s;
        A* result = queries + tile * wide_d;
        const Size kv_first = shape.first(b, g, kv_heads, s), kv_step = shape.step(kv_heads);
        copy_transposed(k + kv_first, kv_step, s, d, turned_k, wide_s);
        copy_rows(v + kv_first, kv_step, s, d, values, wide_d);
        const int group = heads / kv_heads;
        for (int h = g * group; h < (g + 1) * group; ++h)
            for (Size begin = 0; begin < t; begin += tile) {
                const Size rows = std::min<Size>(tile, t - begin), seen = shape.seen(begin + rows - 1),
                           width = padded(seen, Lanes<A>::keys);
                const Size first = shape.first(b, h, heads, t) + begin * q_step;
                copy_rows(q + first, q_step, rows, d, queries, wide_d);
                product<A>({queries, wide_d, 1}, turned_k, wide_s, score, wide_s, rows, width, d, false);
                A sums[tile];
                for (Size i = 0; i < rows; ++i) {
                    const auto [largest, sum] = powers(score + i * wide_s, shape.seen(begin + i), width, scale);
                    sums[i] = sum;
                    lse[(Size{b} * heads + h) * t + begin + i] = largest + log_of(sum);
                }
                product<A>({score, wide_s, 1}, values, wide_d, result, wide_d, rows, wide_d, seen, false);
                for (Size i = 0; i < rows; ++i)
                    for (Size j = 0; j < d; ++j) result[i * wide_d + j] /= sums[i];
                copy_out(result, wide_d, rows, d, out + first, q_step);
            }
    });
}

template <class T>
void attention_delta(ThreadPool& pool, const T* out, const T* dout, Acc<T>* delta, int batch, int heads, int t, int d,
                     int layout) {
    const Shape shape{batch, heads, heads, t, t, d, layout, 0};
    each_row(pool, batch * heads * t, d, [=](int row) {
        const Size first = shape.first(row / t / heads, row / t % heads, heads, t) + row % t * shape.step(heads);
        Acc<T> lanes[32] = {};
        int i = 0;
        for (; i + 32 <= d; i += 32)
            for (int j = 0; j < 32; ++j) lanes[j] += Acc<T>(out[first + i + j]) * Acc<T>(dout[first + i + j]);
        for (int j = 0; i + j < d; ++j) lanes[j] += Acc<T>(out[first + i + j]) * Acc<T>(dout[first + i + j]);
        delta[row] = tree_sum(lanes, 32);
    });
}

// The weights of a tile again, and the gradient of its scores, both [rows, width].
template <class A>
void weights_and_dscores(const Shape& shape, Size begin, Size rows, Size width, Size row_step, A* score, A* dscore,
                         const A* lse, const A* delta, A scale) {
    for (Size i = 0; i < rows; ++i) {
        A *p = score + i * row_step, *ds = dscore + i * row_step;
        const Size seen = shape.seen(begin + i);
        const A row_lse = lse[i], row_delta = delta[i];
        for (Size j = 0; j < seen; ++j) {
            const A weight = exp_of(p[j] * scale - row_lse);
            p[j] = weight;
            ds[j] = weight * (ds[j] - row_delta) * scale;
        }
        std::fill(p + seen, p + std::max(seen, width), A(0));
        std::fill(ds + seen, ds + std::max(seen, width), A(0));
    }
}

template <class T>
void attention_backward(ThreadPool& pool, const T* q, const T* k, const T* v, const T* dout, const Acc<T>* lse,
                        const Acc<T>* delta, T* dq, T* dk, T* dv, int batch, int heads, int kv_heads, int t_count,
                        int s_count, int head_size, int layout, int causal, Acc<T> scale) {
    using A = Acc<T>;
    const Shape shape{batch, heads, kv_heads, t_count, s_count, head_size, layout, causal};
    const Size s = shape.s, t = shape.t, d = shape.d, q_step = shape.step(shape.heads), kv_step = shape.step(shape.kv_heads);
    const Size wide_s = padded(s, Lanes<A>::keys), wide_d = padded(d, Lanes<A>::strip);
    each_key_head<T>(pool, shape, [=](int b, int g) {
        A* turned_k = scratch<A>(0, static_cast<size_t>(2 * d * wide_s + 3 * s * wide_d + tile * (2 * wide_s + 3 * wide_d)));
        A* turned_v = turned_k + d * wide_s;
        A* keys = turned_v + d * wide_s;
        A* key_sum = keys + s * wide_d;
        A* value_sum = key_sum + s * wide_d;
        A* score = value_sum + s * wide_d;
        A* dscore = score + tile * wide_s;
        A* queries = dscore + tile * wide_s;
        A* gradients = queries + tile * wide_d;
        A* result = gradients + tile * wide_d;
        const Size kv_first = shape.first(b, g, shape.kv_heads, shape.s);
        copy_transposed(k + kv_first, kv_step, s, d, turned_k, wide_s);
        copy_transposed(v + kv_first, kv_step, s, d, turned_v, wide_s);
        copy_rows(k + kv_first, kv_step, s, d, keys, wide_d);
        std::fill_n(key_sum, 2 * s * wide_d, A(0));
        const int group = shape.heads / shape.kv_heads;
        for (int h = g * group; h < (g + 1) * group; ++h)
            for (Size begin = 0; begin < t; begin += tile) {
                const Size rows = std::min<Size>(tile, t - begin), seen = shape.seen(begin + rows - 1),
                           width = padded(seen, Lanes<A>::keys);
                const Size first = shape.first(b, h, shape.heads, shape.t) + begin * q_step;
                const Size row = (Size{b} * shape.heads + h) * t + begin;
                copy_rows(q + first, q_step, rows, d, queries, wide_d);
                copy_rows(dout + first, q_step, rows, d, gradients, wide_d);
                product<A>({queries, wide_d, 1}, turned_k, wide_s, score, wide_s, rows, width, d, false);
                product<A>({gradients, wide_d, 1}, turned_v, wide_s, dscore, wide_s, rows, width, d, false);
                weights_and_dscores(shape, begin, rows, width, wide_s, score, dscore, lse + row, delta + row, scale);
                product<A>({dscore, wide_s, 1}, keys, wide_d, result, wide_d, rows, wide_d, seen, false);
                copy_out(result, wide_d, rows, d, dq + first, q_step);
                product<A>({dscore, 1, wide_s}, queries, wide_d, key_sum, wide_d, seen, wide_d, rows, true);
                product<A>({score, 1, wide_s}, gradients, wide_d, value_sum, wide_d, seen, wide_d, rows, true);
            }
        copy_out(key_sum, wide_d, s, d, dk + kv_first, kv_step);
        copy_out(value_sum, wide_d, s, d, dv + kv_first, kv_step);
    });
}

// Of the keys' heads each serves `group` of the queries'.
#define HEADS                                                                                             \
    "batch=1+@m%2 heads=kv_heads*group kv_heads=1+@n%2 t=min(@m,40) s=t+@k%4*7 d=min(@n,60) layout=@n%2 " \
    "causal=min(@m%3,1) "                                                                                 \
    "scale:sum=0.3"
std::span<const Kernel> attention() {
    static constexpr Kernel rows[] = {
        {"attention", "attention.cu", "out = softmax(scale Q K') V with an online softmax",
         "group=1+@k%3 | q[batch,heads,t,d] k[batch,kv_heads,s,d] v[batch,kv_heads,s,d] >out[batch,heads,t,d] "
         ">lse[batch,heads,t]:sum " HEADS,
         FLOATS(attention), "grid(cover(t,16),heads,batch,16,16)", Agreement::nearly},
        {"attention_delta", "attention.cu", "delta = dout . out for each row",
         "out[batch,heads,t,d] dout[batch,heads,t,d] >delta[batch,heads,t]:sum batch=1+@m%2 heads=1+@k%3 t=min(@m,40) "
         "d=min(@n,60) layout=@n%2",
         FLOATS(attention_delta), "warps(batch*heads*t)", Agreement::nearly},
        {"attention_backward", "attention.cu", "dq, dk, dv; the weights computed again",
         "group=1+@k%3 | q[batch,heads,t,d] k[batch,kv_heads,s,d] v[batch,kv_heads,s,d] dout[batch,heads,t,d] "
         "lse[batch,heads,t]:sum{4..6} delta[batch,heads,t]:sum{-1..1} >dq[batch,heads,t,d] >dk[batch,kv_heads,s,d] "
         ">dv[batch,kv_heads,s,d] " HEADS,
         FLOATS(attention_backward), "grid(cover(t,16)+cover(s,16),heads,batch,16,16)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
