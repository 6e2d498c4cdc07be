// Convolution as a product of matrices: im2col writes, for every position of the output, the K = C/G KH KW values of its
// window below one another, and the rest is what a GPU does best.
//     columns[N,G,K,P]    P = OH OW positions; zeros where a window hangs over the edge
//     y[N,G,F/G,P] = w[G,F/G,K] columns                 conv2d_product
//     dcolumns     = w transposed dy                    conv2d_product_data; col2im adds it up into dx
//     dw           = sum over images of dy columns^T    conv2d_product_weight
// im2col, col2im: one thread an element of columns, of dx; ceil(elements / 256) blocks of 256.
// The products: tiles of 16 x 16, as in matmul.cu; grid (ceil(columns / 16), ceil(rows / 16), N G; for dw: G), block (16, 16).
// Bytes: columns is KH KW / (stride stride) times as large as x, written once and read once: the price of the product.

#include "include/element.h"

#define TILE 16
#define CONVOLUTION                                                                                                     \
    int batch, int channels, int height, int width, int filters, int out_height, int out_width, int kernel_height,      \
        int kernel_width, int stride_down, int stride_right, int padding_down, int padding_right, int dilation_down,    \
        int dilation_right, int groups
#define SIZES                                                                                                           \
    batch, channels, height, width, filters, out_height, out_width, kernel_height, kernel_width, stride_down,           \
        stride_right, padding_down, padding_right, dilation_down, dilation_right, groups

template <class T>
__device__ void im2col(const T* x, T* columns, CONVOLUTION) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int positions = out_height * out_width, window = kernel_height * kernel_width;
    if (i >= batch * channels * window * positions) return;
    int position = i % positions, k = i / positions % window, plane = i / (positions * window);  // of N C planes
    int row = position / out_width * stride_down - padding_down + k / kernel_width * dilation_down;
    int column = position % out_width * stride_right - padding_right + k % kernel_width * dilation_right;
    bool inside = row >= 0 && row < height && column >= 0 && column < width;
    columns[i] = inside ? Acc<T>(x[(plane * height + row) * width + column]) : Acc<T>(0);     // [N,C,KH KW,P]
}
FLOATS(im2col, (const T* x, T* columns, CONVOLUTION), x, columns, SIZES)

template <class T>
__device__ void col2im(const T* columns, T* dx, CONVOLUTION) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels * height * width) return;
    int column = i % width, row = i / width % height, plane = i / (width * height);           // of N C planes
    int positions = out_height * out_width, window = kernel_height * kernel_width;
    Acc<T> sum = 0;
    for (int r = 0; r < kernel_height; ++r) {
        int down = row + padding_down - r * dilation_down, out_row = down / stride_down;
        if (down < 0 || down % stride_down != 0 || out_row >= out_height) continue;
        for (int c = 0; c < kernel_width; ++c) {
            int right = column + padding_right - c * dilation_right, out_column = right / stride_right;
            if (right >= 0 && right % stride_right == 0 && out_column < out_width)
                sum += Acc<T>(columns[(plane * window + r * kernel_width + c) * positions + out_row * out_width + out_column]);
        }
    }
    dx[i] = sum;                                                                              // [N,C,H,W]
}
FLOATS(col2im, (const T* columns, T* dx, CONVOLUTION), columns, dx, SIZES)

// M = F/G filters of a group, N = P positions, K of a window. Block z is image z / G, group z % G; `batch` says how many.
template <class T>
__device__ void conv2d_product(const T* w, const T* columns, const T* bias, T* y, int has_bias, int batch, int groups,
                               int m, int n, int k) {
    __shared__ Acc<T> w_tile[TILE][TILE];                                                     // [filter, k]
    __shared__ Acc<T> column_tile[TILE][TILE];                                                // [k, position]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx, group = blockIdx.z % groups;
    if (blockIdx.z >= batch * groups) return;
    const T* a = w + group * m * k;                                                           // [F/G,K]
    const T* b = columns + blockIdx.z * k * n;                                                // [K,P]
    Acc<T> sum = has_bias && row < m ? Acc<T>(bias[group * m + row]) : Acc<T>(0);
    for (int k0 = 0; k0 < k; k0 += TILE) {
        Acc<T> a_value = row < m && k0 + tx < k ? Acc<T>(a[row * k + k0 + tx]) : Acc<T>(0);
        Acc<T> b_value = k0 + ty < k && column < n ? Acc<T>(b[(k0 + ty) * n + column]) : Acc<T>(0);
        w_tile[ty][tx] = a_value;
        column_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += w_tile[ty][i] * column_tile[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) y[(blockIdx.z * m + row) * n + column] = sum;                  // [N,G,F/G,P]
}
FLOATS(conv2d_product, (const T* w, const T* columns, const T* bias, T* y, int has_bias, int batch, int groups, int m,
                        int n, int k), w, columns, bias, y, has_bias, batch, groups, m, n, k)

template <class T>
__device__ void conv2d_product_data(const T* w, const T* dy, T* dcolumns, int batch, int groups, int m, int n, int k) {
    if (blockIdx.z >= batch * groups) return;
    __shared__ Acc<T> w_tile[TILE][TILE];                                                     // [filter, k]
    __shared__ Acc<T> dy_tile[TILE][TILE];                                                    // [filter, position]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    int w_column = blockIdx.y * TILE + tx;                                                    // the k that this thread loads
    const T* a = w + blockIdx.z % groups * m * k;                                             // [F/G,K]
    const T* b = dy + blockIdx.z * m * n;                                                     // [F/G,P]
    Acc<T> sum = 0;
    for (int m0 = 0; m0 < m; m0 += TILE) {
        Acc<T> a_value = m0 + ty < m && w_column < k ? Acc<T>(a[(m0 + ty) * k + w_column]) : Acc<T>(0);
        Acc<T> b_value = m0 + ty < m && column < n ? Acc<T>(b[(m0 + ty) * n + column]) : Acc<T>(0);
        w_tile[ty][tx] = a_value;
        dy_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += w_tile[i][ty] * dy_tile[i][tx];
        __syncthreads();
    }
    if (row < k && column < n) dcolumns[(blockIdx.z * k + row) * n + column] = sum;           // [N,G,K,P]
}
FLOATS(conv2d_product_data, (const T* w, const T* dy, T* dcolumns, int batch, int groups, int m, int n, int k), w, dy,
       dcolumns, batch, groups, m, n, k)

// Rows of column_tile are 17 floats apart, so that 16 threads reading down a column meet 16 banks.
template <class T>
__device__ void conv2d_product_weight(const T* dy, const T* columns, T* dw, int batch, int groups, int m, int n, int k) {
    __shared__ Acc<T> dy_tile[TILE][TILE];                                                    // [filter, position]
    __shared__ Acc<T> column_tile[TILE][TILE + 1];                                            // [k, position]
    int tx = threadIdx.x, ty = threadIdx.y, group = blockIdx.z;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    int k_row = blockIdx.x * TILE + ty;                                                       // the k that this thread loads
    Acc<T> sum = 0;
    for (int image = 0; image < batch; ++image) {
        const T* a = dy + (image * groups + group) * m * n;                                   // [F/G,P]
        const T* b = columns + (image * groups + group) * k * n;                              // [K,P]
        for (int n0 = 0; n0 < n; n0 += TILE) {
            Acc<T> a_value = row < m && n0 + tx < n ? Acc<T>(a[row * n + n0 + tx]) : Acc<T>(0);
            Acc<T> b_value = k_row < k && n0 + tx < n ? Acc<T>(b[k_row * n + n0 + tx]) : Acc<T>(0);
            dy_tile[ty][tx] = a_value;
            column_tile[ty][tx] = b_value;
            __syncthreads();
            for (int i = 0; i < TILE; ++i) sum += dy_tile[ty][i] * column_tile[tx][i];
            __syncthreads();
        }
    }
    if (row < m && column < k) dw[(group * m + row) * k + column] = sum;                      // [G,F/G,K]
}
FLOATS(conv2d_product_weight, (const T* dy, const T* columns, T* dw, int batch, int groups, int m, int n, int k), dy, columns,
       dw, batch, groups, m, n, k)
