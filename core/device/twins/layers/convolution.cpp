// Convolution (kernels/conv2d.cu, conv2d_im2col.cu). With stride 1 every tap of a filter sees the same image, shifted: its
// windows are rows that begin at a tap's offset in a padded copy of the image, and outputs are computed along the flattened
// rows; the few places between two rows of the output are thrown away. Other strides write the windows out first (im2col of
// one image). Either way the work is tiles of sums in registers (convolution_tile.h).
// Images are cut into parts by the shape alone, so results do not depend on the number of threads.
// Slots of scratch: 0 and 1 of the caller, read by all parts; 2 and 3 of the thread that does a part.
#include <array>
#include <type_traits>

#include "core/device/kernels/matmul.h"
#include "core/device/kernels/plain_product.h"
#include "core/device/twins/twins.h"

#define CONVOLUTION                                                                                                  \
    int batch, int channels, int height, int width, int filters, int out_height, int out_width, int kernel_height,   \
        int kernel_width, int stride_down, int stride_right, int padding_down, int padding_right, int dilation_down, \
        int dilation_right, int groups
#define GEOMETRY                                                                                                  \
    Geometry {                                                                                                    \
        batch, channels, height, width, filters, out_height, out_width, kernel_height, kernel_width, stride_down, \
            stride_right, padding_down, padding_right, dilation_down, dilation_right, groups                      \
    }

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
struct Tiles {
    using Tile = void (*)(const T* weight, const T* start, const int* offset, int k, const T* source, T* out, size_t stride);
    using Dot = void (*)(const T* left, size_t left_stride, const T* source, const int* offset, int length, T* sums,
                         size_t stride);
    using Outer = void (*)(const T* left, size_t left_stride, const T* source, const int* offset, int length, T* sums);
    int lanes;
    std::array<int, 4> most_vectors;            // by rows: 1, 2, 4, 6
    std::array<std::array<Tile, 4>, 4> tile;    // rows 1, 2, 4, 6; vectors 1 to 4
    std::array<std::array<Dot, 3>, 4> dot;      // rows 1 to 4; columns 1 to 3
    std::array<int, 4> outer_columns;           // ascending, from 1
    std::array<std::array<Outer, 2>, 4> outer;  // by columns; vectors 1 and 2
};
constexpr int rows_of_tile[] = {1, 2, 4, 6};

namespace narrow {
#if defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define TILE_TARGET
#include "core/device/twins/layers/convolution_tile.h"
#undef VECTOR_BYTES
#undef TILE_TARGET
}  // namespace narrow

#if defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
#define LOCKSTEP_WIDE_TILES
namespace wide {
#define VECTOR_BYTES 64
#define TILE_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
#include "core/device/twins/layers/convolution_tile.h"
#undef VECTOR_BYTES
#undef TILE_TARGET
}  // namespace wide
#endif

template <class T>
const Tiles<T>& best_tiles() {
    static const Tiles<T> best = [] {
#if defined(LOCKSTEP_WIDE_TILES)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw"))
            return wide::tiles<T>();
#endif
        return narrow::tiles<T>();
    }();
    return best;
}

// Rows of an image are short: a call of memcpy for each would cost more than the copy. The last vector overlaps the one
// before it.
template <class T, class A>
inline void copy_line(const T* from, int count, A* to) {
    if constexpr (std::is_same_v<T, A>) {
        constexpr int long_vector = 32 / sizeof(T), short_vector = 16 / sizeof(T);
        if (count >= long_vector) {
            for (int i = 0; i + long_vector <= count; i += long_vector) __builtin_memcpy(to + i, from + i, 32);
            __builtin_memcpy(to + count - long_vector, from + count - long_vector, 32);
            return;
        }
        if (count >= short_vector) {
            __builtin_memcpy(to, from, 16);
            __builtin_memcpy(to + count - short_vector, from + count - short_vector, 16);
            return;
        }
    }
    for (int i = 0; i < count; ++i) to[i] = static_cast<A>(from[i]);
}

// to[column * to_stride + row] = from[row * from_stride + column] for eight rows and columns.
inline void turn_eight(const float* from, int64_t from_stride, float* to, size_t to_stride) {
    typedef float Eight __attribute__((vector_size(32)));
    Eight a[8], b[8];
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&a[i], from + i * from_stride, sizeof(Eight));
    for (int i = 0; i < 8; i += 2) {
        b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; ++j) {
            a[i + 2 * j] = __builtin_shufflevector(b[i + j], b[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            a[i + 2 * j + 1] = __builtin_shufflevector(b[i + j], b[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; ++i) {
        b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (size_t i = 0; i < 8; ++i) __builtin_memcpy(to + i * to_stride, &b[i], sizeof(Eight));
}

// to[column * stride + row] = from[row * from_stride + column].
template <class T, class A>
void turn(const T* from, int64_t from_stride, int rows, int columns, A* to, size_t stride) {
    int row = 0;
    if constexpr (std::is_same_v<T, float> && std::is_same_v<A, float>) {
        for (; columns >= 8 && row + 8 <= rows; row += 8)
            for (int column = 0; column < columns; column += 8) {
                const int first = std::min(column, columns - 8);  // the last eight overlap those before
                turn_eight(from + row * from_stride + first, from_stride, to + static_cast<size_t>(first) * stride + row,
                           stride);
            }
    }
    for (; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            to[static_cast<size_t>(column) * stride + static_cast<size_t>(row)] =
                static_cast<A>(from[row * from_stride + column]);
}

struct Geometry {
    int batch, channels, height, width, filters, out_height, out_width, kernel_height, kernel_width, stride_down,
        stride_right, padding_down, padding_right, dilation_down, dilation_right, groups;

    int depth() const { return channels / groups; }
    int group_filters() const { return filters / groups; }
    int window() const { return kernel_height * kernel_width; }
    int taps() const { return depth() * window(); }  // K
    int positions() const { return out_height * out_width; }
    int64_t products() const { return int64_t{group_filters()} * taps() * positions(); }  // of an image and group
};

// How the windows of one image and group lie in memory: tap k's row begins at offset k, and output (r, c) is element
// r row_width + c of it.
struct Windows {
    bool shifted;
    int padded_height, padded_width, row_width;
    int length, whole;  // of a row; in whole vectors
    size_t size;        // of all rows and the last vector's overhang
};
static Windows windows_of(const Geometry& g, int lanes) {
    Windows w{};
    w.shifted = g.stride_down == 1 && g.stride_right == 1;
    w.padded_height = g.height + 2 * g.padding_down, w.padded_width = g.width + 2 * g.padding_right;
    w.row_width = w.shifted ? w.padded_width : g.out_width;
    w.length = (g.out_height - 1) * w.row_width + g.out_width;
    w.whole = (w.length + lanes - 1) / lanes * lanes;
    w.size = w.shifted ? static_cast<size_t>(g.depth()) * static_cast<size_t>(w.padded_height * w.padded_width)
                       : static_cast<size_t>(g.taps()) * static_cast<size_t>(w.whole);
    w.size += static_cast<size_t>(lanes);
    return w;
}
static void offsets_of(const Geometry& g, const Windows& w, int* offset) {
    for (int k = 0; k < g.taps(); ++k) {
        const int channel = k / g.window(), r = k % g.window() / g.kernel_width, c = k % g.kernel_width;
        offset[k] = w.shifted ? (channel * w.padded_height + r * g.dilation_down) * w.padded_width + c * g.dilation_right
                              : k * w.whole;
    }
}

// One channel's windows by tap: row `tap` of `rows` has the values under that tap for all positions, zero outside.
template <class T, class A>
void windows_of_plane(const T* plane, const Geometry& g, A* rows, int stride) {
    for (int tap = 0; tap < g.window(); ++tap)
        for (int out_row = 0; out_row < g.out_height; ++out_row) {
            A* to = rows + int64_t{tap} * stride + out_row * g.out_width;
            const int row = out_row * g.stride_down - g.padding_down + tap / g.kernel_width * g.dilation_down;
            const int left = tap % g.kernel_width * g.dilation_right - g.padding_right;
            if (row < 0 || row >= g.height) {
                std::fill_n(to, g.out_width, A(0));
                continue;
            }
            const T* from = plane + int64_t{row} * g.width;
            for (int c = 0; c < g.out_width; ++c) {
                const int column = left + c * g.stride_right;
                to[c] = column >= 0 && column < g.width ? static_cast<A>(from[column]) : A(0);
            }
        }
}

template <class T>
void fill_source(const T* x, const Geometry& g, const Windows& w, int lanes, Acc<T>* source) {  // x: [C/G,H,W]
    const auto plane_size = int64_t{g.height} * g.width;
    std::fill_n(source + w.size - static_cast<size_t>(lanes), lanes, Acc<T>(0));
    for (int channel = 0; channel < g.depth(); ++channel, x += plane_size) {
        if (!w.shifted) {
            Acc<T>* rows = source + int64_t{channel} * g.window() * w.whole;
            windows_of_plane(x, g, rows, w.whole);
            for (int tap = 0; tap < g.window(); ++tap)
                std::fill_n(rows + int64_t{tap} * w.whole + w.length, w.whole - w.length, Acc<T>(0));
            continue;
        }
        Acc<T>* to = source + int64_t{channel} * w.padded_height * w.padded_width;
        if (g.padding_down == 0 && g.padding_right == 0) {
            std::copy_n(x, plane_size, to);
            continue;
        }
        std::fill_n(to, w.padded_height * w.padded_width, Acc<T>(0));
        for (int row = 0; row < g.height; ++row)
            copy_line(x + int64_t{row} * g.width, g.width,
                      to + int64_t{row + g.padding_down} * w.padded_width + g.padding_right);
    }
}

// The rows of the next tile when `rest` are left: an index into rows_of_tile.
static int next_rows(int rest) {
    if (rest % 6 == 0) return 3;
    if (rest % 4 == 0) return 2;
    return rest >= 6 ? 3 : rest >= 4 ? 2 : rest >= 2 ? 1 : 0;
}

// Weights in the order in which tiles read them: for each tile its k, for each k its rows. weight(row, k).
template <class A, class Weight>
void pack_weights(int rows, int k, const Weight& weight, A* packed) {
    for (int row = 0; row < rows;) {
        const int count = rows_of_tile[next_rows(rows - row)];
        for (int i = 0; i < k; ++i)
            for (int r = 0; r < count; ++r) *packed++ = weight(row + r, i);
        row += count;
    }
}

// out[r][p] for all rows: take(row, out of the row) after each.
template <class A, class Take>
void product_rows(const Tiles<A>& tiles, int rows, int k, const A* packed, const A* start, const int* offset,
                  const A* source, int whole, A* out, const Take& take) {
    for (int row = 0; row < rows;) {
        const auto kind = static_cast<size_t>(next_rows(rows - row));
        const int count = rows_of_tile[kind];
        for (int p = 0; p < whole;) {
            const int vectors = std::min(tiles.most_vectors[kind], (whole - p) / tiles.lanes);
            tiles.tile[kind][static_cast<size_t>(vectors - 1)](packed, start + row, offset, k, source + p, out + p,
                                                               static_cast<size_t>(whole));
            p += vectors * tiles.lanes;
        }
        for (int r = 0; r < count; ++r) take(row + r, out + int64_t{r} * whole);
        packed += int64_t{count} * k;
        row += count;
    }
}

// Parts of some 30 us: `units` pieces of work of `products` each.
template <class Unit>
void in_parts(ThreadPool& pool, int units, int64_t products, const Unit& unit) {
    const int together = static_cast<int>(std::clamp<int64_t>((1 << 19) / std::max<int64_t>(products, 1), 1, 1 << 20));
    pool.run((units + together - 1) / together, [&](int part) {
        for (int i = part * together; i < std::min(units, (part + 1) * together); ++i) unit(i);
    });
}

// y = weight * x + bias; weight(filter, tap), bias null for none. With `tell`, the pool's listener hears of
// images of y.
template <class T, class Weight>
void convolve(ThreadPool& pool, const T* x, const T* bias, T* y, const Geometry& g, bool tell, const Weight& weight) {
    using A = Acc<T>;
    const Tiles<A>& tiles = best_tiles<A>();
    const Windows w = windows_of(g, tiles.lanes);
    const int k = g.taps(), m = g.group_filters();
    A* packed = scratch<A>(0, static_cast<size_t>(g.filters) * static_cast<size_t>(k + 1));
    A* start = packed + int64_t{g.filters} * k;
    int* offset = scratch<int>(1, static_cast<size_t>(k));
    offsets_of(g, w, offset);
    for (int group = 0; group < g.groups; ++group)
        pack_weights(
            m, k, [&](int f, int i) { return weight(group * m + f, i); }, packed + int64_t{group} * m * k);
    for (int f = 0; f < g.filters; ++f) start[f] = bias ? A(bias[f]) : A(0);

    in_parts(pool, g.batch * g.groups, g.products(), [&](int unit) {
        const int group = unit % g.groups;
        A* source = scratch<A>(2, w.size);
        A* out = scratch<A>(3, 6 * static_cast<size_t>(w.whole));
        fill_source(x + int64_t{unit} * g.depth() * g.height * g.width, g, w, tiles.lanes, source);
        const int64_t first = int64_t{unit} * m * g.positions(), count = int64_t{m} * g.positions();
        T* to = tell ? pool.place(y, first, count) : y + first;
        product_rows(tiles, m, k, packed + int64_t{group} * m * k, start + group * m, offset, source, w.whole, out,
                     [&](int f, const A* row) {
                         for (int r = 0; r < g.out_height; ++r)
                             copy_line(row + int64_t{r} * w.row_width, g.out_width,
                                       to + int64_t{f} * g.positions() + int64_t{r} * g.out_width);
                     });
        if (tell) pool.made(first, count);
    });
}

// dx[H,W] = the sum of the rows of one channel's windows, each put back to where it came from.
template <class A, class T>
void collect_plane(const A* rows, int stride, const Geometry& g, T* dx) {
    const auto size = static_cast<size_t>(g.height) * static_cast<size_t>(g.width);
    Acc<T>* sum;
    if constexpr (std::is_same_v<T, Acc<T>>)
        sum = dx;
    else
        sum = scratch<Acc<T>>(3, size);
    std::fill_n(sum, size, Acc<T>(0));
    for (int tap = 0; tap < g.window(); ++tap)
        for (int out_row = 0; out_row < g.out_height; ++out_row) {
            const int row = out_row * g.stride_down - g.padding_down + tap / g.kernel_width * g.dilation_down;
            if (row < 0 || row >= g.height) continue;
            const int left = tap % g.kernel_width * g.dilation_right - g.padding_right;
            const A* from = rows + int64_t{tap} * stride + out_row * g.out_width;
            for (int c = 0; c < g.out_width; ++c) {
                const int column = left + c * g.stride_right;
                if (column >= 0 && column < g.width) sum[row * g.width + column] += Acc<T>(from[c]);
            }
        }
    if constexpr (!std::is_same_v<T, Acc<T>>) std::copy_n(sum, size, dx);
}

template <class T>
void conv2d(ThreadPool& pool, const T* x, const T* w, const T* bias, T* y, int has_bias, CONVOLUTION) {
    const Geometry g = GEOMETRY;
    convolve(pool, x, has_bias ? bias : nullptr, y, g, true,
             [&](int f, int k) { return Acc<T>(w[int64_t{f} * g.taps() + k]); });
}

// With stride 1, dx is dy convolved with the filters turned by half a turn; else the windows' gradients are collected.
template <class T>
void conv2d_backward_data(ThreadPool& pool, const T* w, const T* dy, T* dx, CONVOLUTION) {
    using A = Acc<T>;
    const Geometry g = GEOMETRY;
    const int around_down = g.dilation_down * (g.kernel_height - 1) - g.padding_down,
              around_right = g.dilation_right * (g.kernel_width - 1) - g.padding_right, m = g.group_filters(), k = g.taps();
    if (g.stride_down == 1 && g.stride_right == 1 && around_down >= 0 && around_right >= 0) {
        Geometry back = g;
        std::swap(back.channels, back.filters);
        std::swap(back.height, back.out_height);
        std::swap(back.width, back.out_width);
        back.padding_down = around_down, back.padding_right = around_right;
        const T* none = nullptr;
        return convolve(pool, dy, none, dx, back, false, [&](int channel, int tap) {
            const int group = channel / g.depth(), f = group * m + tap / g.window();
            const int turned = g.window() - 1 - tap % g.window();
            return A(w[(int64_t{f} * g.depth() + channel % g.depth()) * g.window() + turned]);
        });
    }
    const Tiles<A>& tiles = best_tiles<A>();
    const int positions = g.positions(), whole = (positions + tiles.lanes - 1) / tiles.lanes * tiles.lanes;
    A* packed = scratch<A>(0, static_cast<size_t>(g.filters + g.groups) * static_cast<size_t>(k));
    int* offset = scratch<int>(1, static_cast<size_t>(m));
    for (int f = 0; f < m; ++f) offset[f] = f * whole;
    for (int group = 0; group < g.groups; ++group)
        pack_weights(
            k, m, [&](int tap, int f) { return A(w[int64_t{group * m + f} * k + tap]); }, packed + int64_t{group} * m * k);
    A* start = packed + int64_t{g.filters} * k;
    std::fill_n(start, k, A(0));
    in_parts(pool, g.batch * g.groups, g.products(), [&](int unit) {
        A* source = scratch<A>(2, static_cast<size_t>(m + 6 + k) * static_cast<size_t>(whole));
        A* out = source + int64_t{m} * whole;
        A* columns = out + int64_t{6} * whole;
        for (int f = 0; f < m; ++f) {
            std::copy_n(dy + (int64_t{unit} * m + f) * positions, positions, source + int64_t{f} * whole);
            std::fill_n(source + int64_t{f} * whole + positions, whole - positions, A(0));
        }
        product_rows(tiles, k, m, packed + int64_t{unit % g.groups} * m * k, start, offset, source, whole, out,
                     [&](int tap, const A* row) { std::copy_n(row, positions, columns + int64_t{tap} * whole); });
        for (int channel = 0; channel < g.depth(); ++channel)
            collect_plane(columns + int64_t{channel} * g.window() * whole, whole, g,
                          dx + (int64_t{unit} * g.depth() + channel) * g.height * g.width);
    });
}

// dw[F/G,K] of a group from images begin .. end - 1, in vectors of positions: sums of lanes at the end.
template <class T>
void weights_by_positions(const Tiles<Acc<T>>& tiles, const Geometry& g, const Windows& w, const int* offset, const T* x,
                          const T* dy, int group, int begin, int end, Acc<T>* dw) {
    using A = Acc<T>;
    const int k = g.taps(), m = g.group_filters(), lanes = tiles.lanes;
    const auto size = static_cast<size_t>(m) * static_cast<size_t>(k);
    A* source = scratch<A>(2, w.size + static_cast<size_t>(m) * static_cast<size_t>(w.whole));
    A* left = source + w.size;  // dy with zeros between its rows: [F/G, whole]
    A* sums = scratch<A>(3, size * static_cast<size_t>(lanes));
    std::fill_n(left, int64_t{m} * w.whole, A(0));
    std::fill_n(sums, size * static_cast<size_t>(lanes), A(0));
    for (int image = begin; image < end; ++image) {
        const int64_t unit = int64_t{image} * g.groups + group;
        fill_source(x + unit * g.depth() * g.height * g.width, g, w, lanes, source);
        for (int f = 0; f < m; ++f)
            for (int r = 0; r < g.out_height; ++r)
                copy_line(dy + (unit * m + f) * g.positions() + int64_t{r} * g.out_width, g.out_width,
                          left + int64_t{f} * w.whole + int64_t{r} * w.row_width);
        for (int f = 0; f < m;) {
            const int rows = (m - f) % 4 != 0 && (m - f) % 3 == 0 ? 3 : std::min(4, m - f);
            for (int tap = 0; tap < k; tap += 3)
                tiles.dot[static_cast<size_t>(rows - 1)][static_cast<size_t>(std::min(3, k - tap) - 1)](
                    left + int64_t{f} * w.whole, static_cast<size_t>(w.whole), source, offset + tap, w.whole,
                    sums + (int64_t{f} * k + tap) * lanes, static_cast<size_t>(k));
            f += rows;
        }
    }
    for (size_t i = 0; i < size; ++i) dw[i] = tree_sum(sums + i * static_cast<size_t>(lanes), lanes);
}

// The same in vectors of filters: dy is turned, so that a position has its filters side by side; one or two vectors of them
// meet up to twelve taps at a time.
template <class T>
void weights_by_filters(const Tiles<Acc<T>>& tiles, const Geometry& g, const Windows& w, const int* offset, const T* x,
                        const T* dy, int group, int begin, int end, Acc<T>* dw) {
    using A = Acc<T>;
    const int k = g.taps(), m = g.group_filters(), lanes = tiles.lanes, padded = (m + lanes - 1) / lanes * lanes;
    const auto stride = static_cast<size_t>(padded);
    A* source = scratch<A>(2, w.size + static_cast<size_t>(w.length) * stride);
    A* left = source + w.size;                                 // [length, padded filters]
    A* sums = scratch<A>(3, static_cast<size_t>(k) * stride);  // vectors of filters, then taps, then lanes
    std::fill_n(left, static_cast<size_t>(w.length) * stride, A(0));
    std::fill_n(sums, static_cast<size_t>(k) * stride, A(0));
    for (int image = begin; image < end; ++image) {
        const int64_t unit = int64_t{image} * g.groups + group;
        fill_source(x + unit * g.depth() * g.height * g.width, g, w, lanes, source);
        for (int r = 0; r < g.out_height; ++r)
            turn(dy + unit * m * g.positions() + int64_t{r} * g.out_width, g.positions(), m, g.out_width,
                 left + static_cast<size_t>(r * w.row_width) * stride, stride);
        for (int f = 0; f < padded;) {
            const int vectors = f + 2 * lanes <= padded ? 2 : 1;
            A* row = sums + int64_t{f} * k;
            for (int tap = 0; tap < k;) {
                size_t kind = tiles.outer_columns.size() - 1;
                while (tap + tiles.outer_columns[kind] > k) --kind;
                tiles.outer[kind][static_cast<size_t>(vectors - 1)](left + f, stride, source, offset + tap, w.length,
                                                                    row + int64_t{tap} * vectors * lanes);
                tap += tiles.outer_columns[kind];
            }
            f += vectors * lanes;
        }
    }
    for (int f = 0; f < m; ++f) {
        const int first = f / (2 * lanes) * 2 * lanes, vectors = first + 2 * lanes <= padded ? 2 : 1;
        for (int tap = 0; tap < k; ++tap)
            dw[int64_t{f} * k + tap] = sums[int64_t{first} * k + int64_t{tap} * vectors * lanes + (f - first)];
    }
}

// Chunks of images, each with its own sums, which are added in order.
template <class T>
void conv2d_backward_weight(ThreadPool& pool, const T* x, const T* dy, T* dw, CONVOLUTION) {
    using A = Acc<T>;
    const Geometry g = GEOMETRY;
    const Tiles<A>& tiles = best_tiles<A>();
    const Windows w = windows_of(g, tiles.lanes);
    const int k = g.taps(), m = g.group_filters(), lanes = tiles.lanes;
    const auto size = static_cast<size_t>(m) * static_cast<size_t>(k);
    const int chunks = static_cast<int>(
        std::clamp<int64_t>(g.products() * g.batch / (1 << 19), 1, std::clamp(g.batch, 1, g.groups > 1 ? 2 : 16)));
    A* partial = scratch<A>(0, static_cast<size_t>(chunks * g.groups) * size);  // [chunk,G,F/G,K]
    int* offset = scratch<int>(1, static_cast<size_t>(k));
    offsets_of(g, w, offset);

    pool.run(chunks * g.groups, [&](int part) {
        const int group = part % g.groups, chunk = part / g.groups;
        const auto border = [&](int c) { return static_cast<int>(int64_t{g.batch} * c / chunks); };
        const int begin = border(chunk), end = border(chunk + 1);
        A* to = partial + static_cast<size_t>(part) * size;
        if (m >= lanes)
            weights_by_filters(tiles, g, w, offset, x, dy, group, begin, end, to);
        else
            weights_by_positions(tiles, g, w, offset, x, dy, group, begin, end, to);
    });
    const size_t all = static_cast<size_t>(g.groups) * size;
    for (size_t i = 0; i < all; ++i) {
        A sum = partial[i];
        for (size_t chunk = 1; chunk < static_cast<size_t>(chunks); ++chunk) sum += partial[chunk * all + i];
        dw[i] = sum;
    }
}

// Thread t of the kernel's block adds the values t, t + 256, ... of a channel.
template <class T>
void channel_sum(ThreadPool& pool, const T* x, T* sums, int batch, int channels, int inner) {
    each_row(pool, channels, batch * inner, [=](int channel) {
        Acc<T> partial[256] = {};
        for (int image = 0; image < batch; ++image) {
            const T* from = x + (int64_t{image} * channels + channel) * inner;
            int thread = static_cast<int>(int64_t{image} * inner % 256);
            for (int i = 0; i < inner; thread = 0) {
                const int count = std::min(256 - thread, inner - i);
                for (int j = 0; j < count; ++j) partial[thread + j] += Acc<T>(from[i + j]);
                i += count;
            }
        }
        sums[channel] = tree_sum(partial, 256);
    });
}

template <class T>
void add_channel(ThreadPool& pool, T* y, const T* bias, int batch, int channels, int inner) {
    each_row(pool, batch * channels, inner, [=](int plane) {
        const Acc<T> add = bias[plane % channels];
        T* to = y + int64_t{plane} * inner;
        for (int i = 0; i < inner; ++i) to[i] = Acc<T>(to[i]) + add;
    });
}

template <class T>
void im2col(ThreadPool& pool, const T* x, T* columns, CONVOLUTION) {
    const Geometry g = GEOMETRY;
    const int64_t size = int64_t{g.window()} * g.positions();
    each_row(pool, g.batch * g.channels, static_cast<int>(size), [&](int plane) {
        windows_of_plane(x + int64_t{plane} * g.height * g.width, g, columns + plane * size, g.positions());
    });
}
template <class T>
void col2im(ThreadPool& pool, const T* columns, T* dx, CONVOLUTION) {
    const Geometry g = GEOMETRY;
    const int64_t size = int64_t{g.window()} * g.positions();
    each_row(pool, g.batch * g.channels, static_cast<int>(size), [&](int plane) {
        collect_plane(columns + plane * size, g.positions(), g, dx + int64_t{plane} * g.height * g.width);
    });
}

// C = A B in the type of sums. Slots 0 and 1 are used where T is narrower.
template <class T>
static void product(ThreadPool& pool, bool transpose_a, bool transpose_b, const T* a, const T* b, Acc<T>* c, int m, int n,
                    int k) {
    if constexpr (std::is_same_v<T, float>) {
        device::matmul(transpose_a, transpose_b, m, n, k, a, b, c, pool);
    } else if constexpr (std::is_same_v<T, double>) {
        plain_product(transpose_a, transpose_b, m, n, k, a, b, c, pool);
    } else {
        const auto size_a = static_cast<size_t>(m) * static_cast<size_t>(k),
                   size_b = static_cast<size_t>(k) * static_cast<size_t>(n);
        float* wide_a = scratch<float>(0, size_a);
        float* wide_b = scratch<float>(1, size_b);
        std::copy_n(a, size_a, wide_a);
        std::copy_n(b, size_b, wide_b);
        device::matmul(transpose_a, transpose_b, m, n, k, wide_a, wide_b, c, pool);
    }
}
template <class T>
void conv2d_product(ThreadPool& pool, const T* w, const T* columns, const T* bias, T* y, int has_bias, int batch, int groups,
                    int m, int n, int k) {
    const auto size = static_cast<size_t>(m) * static_cast<size_t>(n);
    Acc<T>* out = scratch<Acc<T>>(2, size);
    for (int unit = 0; unit < batch * groups; ++unit) {
        const int group = unit % groups;
        product(pool, false, false, w + int64_t{group} * m * k, columns + int64_t{unit} * k * n, out, m, n, k);
        T* to = y + int64_t{unit} * m * n;
        for (int row = 0; row < m; ++row) {
            const Acc<T> add = has_bias ? Acc<T>(bias[group * m + row]) : Acc<T>(0);
            for (int i = 0; i < n; ++i) to[int64_t{row} * n + i] = out[int64_t{row} * n + i] + add;
        }
    }
}
template <class T>
void conv2d_product_data(ThreadPool& pool, const T* w, const T* dy, T* dcolumns, int batch, int groups, int m, int n,
                         int k) {
    const auto size = static_cast<size_t>(k) * static_cast<size_t>(n);
    Acc<T>* out = scratch<Acc<T>>(2, size);
    for (int unit = 0; unit < batch * groups; ++unit) {
        product(pool, true, false, w + int64_t{unit % groups} * m * k, dy + int64_t{unit} * m * n, out, k, n, m);
        std::copy_n(out, size, dcolumns + int64_t{unit} * k * n);
    }
}
template <class T>
void conv2d_product_weight(ThreadPool& pool, const T* dy, const T* columns, T* dw, int batch, int groups, int m, int n,
                           int k) {
    const auto size = static_cast<size_t>(m) * static_cast<size_t>(k);
    Acc<T>* out = scratch<Acc<T>>(2, size);
    Acc<T>* sum = scratch<Acc<T>>(3, size);
    for (int group = 0; group < groups; ++group) {
        std::fill_n(sum, size, Acc<T>(0));
        for (int image = 0; image < batch; ++image) {
            const int64_t unit = int64_t{image} * groups + group;
            product(pool, false, true, dy + unit * m * n, columns + unit * k * n, out, m, k, n);
            for (size_t i = 0; i < size; ++i) sum[i] += out[i];
        }
        std::copy_n(sum, size, dw + static_cast<size_t>(group) * size);
    }
}

// Strides, paddings, dilations, groups and edges all occur.
#define CASE "own=1+@m%7 depth=1+@n%3 down=1+@k%3/2 right=1+@n%2 | "
#define NUMBERS                                                                                                          \
    "batch=1+@m%4 channels=groups*depth height=5+@n%8 width=7+@k%20 filters=groups*own "                                 \
    "out_height=(height+2*padding_down-dilation_down*(kernel_height-1)-1)/down+1 "                                       \
    "out_width=(width+2*padding_right-dilation_right*(kernel_width-1)-1)/right+1 "                                       \
    "kernel_height=1+@m%3 kernel_width=1+@n%4 stride_down=down stride_right=right padding_down=@n%3 padding_right=@m%2 " \
    "dilation_down=1+@n/2%2 dilation_right=1+@m/4%2 groups=1+@k%2"
#define PRODUCT "batch=1+@m%4 groups=1+@k%2 m=1+@m%7 n=3+@k%50 k=(1+@n%3)*(1+@m%3)*(1+@n%4)"
std::span<const Kernel> convolution() {
    static constexpr Kernel rows[] = {
        {"conv2d",
         "conv2d.cu",
         "y[N,F,OH,OW] = w[F,C/G,KH,KW] * x[N,C,H,W] + bias[F]",
         CASE "x[batch,channels,height,width] w[filters,channels/groups,kernel_height,kernel_width] bias[filters*has_bias] "
              ">y[batch,filters,out_height,out_width] has_bias=@m%2 " NUMBERS,
         FLOATS(conv2d),
         "threads(batch*filters*out_height*out_width)",
         Agreement::nearly,
         {.stored_once = {3, {5, 9, 10, 11}}, .tells_of_parts = true}},
        {"conv2d_backward_data", "conv2d.cu", "dx[N,C,H,W] from w and dy",
         CASE "w[filters,channels/groups,kernel_height,kernel_width] dy[batch,filters,out_height,out_width] "
              ">dx[batch,channels,height,width] " NUMBERS,
         FLOATS(conv2d_backward_data), "threads(batch*channels*height*width)", Agreement::nearly},
        {"conv2d_backward_weight", "conv2d.cu", "dw[F,C/G,KH,KW] from x and dy",
         CASE "x[batch,channels,height,width] dy[batch,filters,out_height,out_width] "
              ">dw[filters,channels/groups,kernel_height,kernel_width] " NUMBERS,
         FLOATS(conv2d_backward_weight), "blocks(filters*channels/groups*kernel_height*kernel_width)", Agreement::nearly},
        {"channel_sum", "conv2d.cu", "sums[C] of x[N,C,S]",
         "x[batch,channels,inner] >sums[channels] batch=1+@k%5 channels=@m inner=@n", FLOATS(channel_sum),
         "blocks(channels)"},
        {"add_channel", "conv2d.cu", "y[N,C,S] = y + bias[C]",
         "&y[batch,channels,inner] bias[channels] batch=1+@k%5 channels=@m inner=@n", FLOATS(add_channel),
         "threads(batch*channels*inner)"},
        {"im2col", "conv2d_im2col.cu", "columns[N,G,K,P] = the windows of x[N,C,H,W]",
         CASE
         "x[batch,channels,height,width] >columns[batch,channels,kernel_height,kernel_width,out_height,out_width] " NUMBERS,
         FLOATS(im2col), "threads(batch*channels*kernel_height*kernel_width*out_height*out_width)"},
        {"col2im", "conv2d_im2col.cu", "dx[N,C,H,W] = sums of columns[N,G,K,P]",
         CASE
         "columns[batch,channels,kernel_height,kernel_width,out_height,out_width] >dx[batch,channels,height,width] " NUMBERS,
         FLOATS(col2im), "threads(batch*channels*height*width)"},
        {"conv2d_product", "conv2d_im2col.cu", "y[N,G,F/G,P] = w[G,F/G,K] columns[N,G,K,P] + bias",
         "w[groups,m,k] columns[batch,groups,k,n] bias[groups*m*has_bias] >y[batch,groups,m,n] has_bias=@m%2 " PRODUCT,
         FLOATS(conv2d_product), "tiles(n,m,batch*groups)", Agreement::nearly},
        {"conv2d_product_data", "conv2d_im2col.cu", "dcolumns[N,G,K,P] = w transposed dy",
         "w[groups,m,k] dy[batch,groups,m,n] >dcolumns[batch,groups,k,n] " PRODUCT, FLOATS(conv2d_product_data),
         "tiles(n,k,batch*groups)", Agreement::nearly},
        {"conv2d_product_weight", "conv2d_im2col.cu", "dw[G,F/G,K] = sum over N of dy columns transposed",
         "dy[batch,groups,m,n] columns[batch,groups,k,n] >dw[groups,m,k] " PRODUCT, FLOATS(conv2d_product_weight),
         "tiles(k,m,groups)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
