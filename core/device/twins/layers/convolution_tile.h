// The three inner loops of convolution, as products of rows that lie anywhere: row k of the one factor begins at
// source + offset[k], so the shifted views of an image need no copy (convolution.cpp). Vectors of VECTOR_BYTES: this file
// is included once for the copy's own instructions and, where the compiler can, once more for AVX-512 (TILE_TARGET), in a
// namespace each. Terms are added in the same order whatever the width, but in dot_tile, which adds a lane's terms first.
template <class T>
struct Lanes {
    typedef T Vector __attribute__((vector_size(VECTOR_BYTES)));
    static constexpr int count = VECTOR_BYTES / static_cast<int>(sizeof(T));
};

// out[r][p] = start[r] + sum over k of weight[k][r] source[offset[k] + p], for `vectors` vectors of p and `rows` rows.
template <class T, int rows, int vectors>
TILE_TARGET void tile(const T* weight, const T* start, const int* offset, int k, const T* source, T* out, size_t stride) {
    using Vector = typename Lanes<T>::Vector;
    constexpr int lanes = Lanes<T>::count;
    Vector sum[rows][vectors];
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) sum[r][v] = start[r] - Vector{};
    for (int i = 0; i < k; ++i) {
        const T* from = source + offset[i];
        Vector value[vectors];
        for (int v = 0; v < vectors; ++v) __builtin_memcpy(&value[v], from + v * lanes, sizeof(Vector));
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
            const Vector factor = weight[i * rows + r] - Vector{};
            for (int v = 0; v < vectors; ++v) sum[r][v] += factor * value[v];
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
            __builtin_memcpy(out + static_cast<size_t>(r) * stride + v * lanes, &sum[r][v], sizeof(Vector));
}

// sums[a][b] (vectors, `stride` of them a row) += sum over p of left[a][p] source[offset[b] + p]; `length` is whole vectors.
template <class T, int rows, int columns>
TILE_TARGET void dot_tile(const T* left, size_t left_stride, const T* source, const int* offset, int length, T* sums,
                          size_t stride) {
    using Vector = typename Lanes<T>::Vector;
    constexpr int lanes = Lanes<T>::count;
    Vector sum[rows][columns];
    for (int a = 0; a < rows; ++a)
        for (int b = 0; b < columns; ++b)
            __builtin_memcpy(&sum[a][b], sums + (static_cast<size_t>(a) * stride + static_cast<size_t>(b)) * lanes,
                             sizeof(Vector));
    for (int p = 0; p < length; p += lanes) {
        Vector value[columns];
        for (int b = 0; b < columns; ++b) __builtin_memcpy(&value[b], source + offset[b] + p, sizeof(Vector));
#pragma GCC unroll 4
        for (int a = 0; a < rows; ++a) {
            Vector factor;
            __builtin_memcpy(&factor, left + static_cast<size_t>(a) * left_stride + p, sizeof(Vector));
            for (int b = 0; b < columns; ++b) sum[a][b] += factor * value[b];
        }
    }
    for (int a = 0; a < rows; ++a)
        for (int b = 0; b < columns; ++b)
            __builtin_memcpy(sums + (static_cast<size_t>(a) * stride + static_cast<size_t>(b)) * lanes, &sum[a][b],
                             sizeof(Vector));
}

// sums[b] (`vectors` vectors) += sum over p of left[p] source[offset[b] + p]: left[p] has a value for each filter.
template <class T, int columns, int vectors>
TILE_TARGET void outer_tile(const T* left, size_t left_stride, const T* source, const int* offset, int length, T* sums) {
    using Vector = typename Lanes<T>::Vector;
    constexpr int lanes = Lanes<T>::count;
    Vector sum[columns][vectors];
    __builtin_memcpy(sum, sums, sizeof sum);
    const T* from[columns];
    for (int b = 0; b < columns; ++b) from[b] = source + offset[b];
    for (int p = 0; p < length; ++p) {
        Vector value[vectors];
        for (int v = 0; v < vectors; ++v)
            __builtin_memcpy(&value[v], left + static_cast<size_t>(p) * left_stride + v * lanes, sizeof(Vector));
#pragma GCC unroll 12
        for (int b = 0; b < columns; ++b) {
            const Vector factor = from[b][p] - Vector{};
            for (int v = 0; v < vectors; ++v) sum[b][v] += factor * value[v];
        }
    }
    __builtin_memcpy(sums, sum, sizeof sum);
}

template <class T>
Tiles<T> tiles() {
    constexpr bool wide = VECTOR_BYTES == 64;  // 32 registers instead of 16
    return {Lanes<T>::count,
            {4, 4, wide ? 4 : 3, wide ? 4 : 2},
            {{{tile<T, 1, 1>, tile<T, 1, 2>, tile<T, 1, 3>, tile<T, 1, 4>},
              {tile<T, 2, 1>, tile<T, 2, 2>, tile<T, 2, 3>, tile<T, 2, 4>},
              {tile<T, 4, 1>, tile<T, 4, 2>, tile<T, 4, 3>, tile<T, 4, 4>},
              {tile<T, 6, 1>, tile<T, 6, 2>, tile<T, 6, 3>, tile<T, 6, 4>}}},
            {{{dot_tile<T, 1, 1>, dot_tile<T, 1, 2>, dot_tile<T, 1, 3>},
              {dot_tile<T, 2, 1>, dot_tile<T, 2, 2>, dot_tile<T, 2, 3>},
              {dot_tile<T, 3, 1>, dot_tile<T, 3, 2>, dot_tile<T, 3, 3>},
              {dot_tile<T, 4, 1>, dot_tile<T, 4, 2>, dot_tile<T, 4, 3>}}},
            {1, wide ? 3 : 2, wide ? 6 : 3, wide ? 12 : 6},
            {{{outer_tile<T, 1, 1>, outer_tile<T, 1, 2>},
              {outer_tile < T, wide ? 3 : 2, 1 >, outer_tile < T, wide ? 3 : 2, 2 > },
              {outer_tile < T, wide ? 6 : 3, 1 >, outer_tile < T, wide ? 6 : 3, 2 > },
              {outer_tile < T, wide ? 12 : 6, 1 >, outer_tile < T, wide ? 12 : 6, 2 > }}}};
}
