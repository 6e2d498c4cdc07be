// Products of 8-bit integers. A real number is stood for by an integer -127 .. 127 and a scale that many of them share:
// q = x / scale, rounded to nearest even, so x is about scale q, and off by at most scale / 2 where nothing is cut off.
// Rows of integers are padded with zeros to whole words of four: dp4a multiplies four pairs and adds them in one instruction.
// Matrices x[R,C] may lie as [batch, C, inner] with R = batch inner (a picture's columns after im2col): inner 1 is the plain form.
// Launch: quantize and requantize a thread a word, dequantize a thread an element, 256 a block; products (ceil(N/16), ceil(M/16)),
// (16, 16).  Bytes: a quarter of what floats would be.

#include "include/element.h"
#include "include/rounded.h"

__device__ inline int dp4a(int a, int b, int sum) {                             // sum + a0 b0 + a1 b1 + a2 b2 + a3 b3
    int result;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

__device__ inline int to_int8(float x, float scale) {                           // a NaN becomes 0
    float q = x / scale;
    q = q > 127 ? 127 : q < -127 ? -127 : q;
    return q != q ? 0 : (int)rintf(q);
}

extern "C" __global__ void quantize_int8_f32(const float* x, const float* scales, int* q, int rows, int columns, int words,
                                             int inner, int by_row, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * words) return;
    int row = i / words, first = i % words * 4;
    float own = by_row ? scales[row] : scale;
    const float* from = x + (size_t)(row / inner) * columns * inner + row % inner;
    unsigned word = 0;
    for (int b = 0; b < 4; ++b)
        if (first + b < columns) word |= (to_int8(from[(size_t)(first + b) * inner], own) & 255u) << 8 * b;
    q[i] = (int)word;
}

// C[M,N] = A[M,K] B[N,K] transposed, in words of four along K.
extern "C" __global__ void int8_matmul_i32(const int* a, const int* b, int* c, int m, int n, int words) {
    __shared__ int a_tile[16][16];                                              // [row, word]
    __shared__ int b_tile[16][17];                                              // [column, word]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx, b_row = blockIdx.x * 16 + ty;
    int sum = 0;
    for (int w0 = 0; w0 < words; w0 += 16) {
        a_tile[ty][tx] = row < m && w0 + tx < words ? a[row * words + w0 + tx] : 0;
        b_tile[ty][tx] = b_row < n && w0 + tx < words ? b[b_row * words + w0 + tx] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum = dp4a(a_tile[ty][i], b_tile[tx][i], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}

// y = scale of A x scale of B's row x sum; y[batch, N, inner].
extern "C" __global__ void dequantize_int8_f32(const int* sums, const float* scales, float* y, int rows, int columns, int inner,
                                               int by_column, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    int row = i / columns, column = i % columns;
    float both = times(scale, scales[by_column ? column : 0]);
    y[(size_t)(row / inner) * columns * inner + (size_t)column * inner + row % inner] = times((float)sums[i], both);
}

// The next layer's integers at once: q = (sum scales + bias, not below 0 where relu) / scale of the output.
extern "C" __global__ void requantize_int8_f32(const int* sums, const float* scales, const float* bias, int* q, int rows,
                                               int columns, int words, int by_column, int relu, float scale, float scale_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * words) return;
    int row = i / words, first = i % words * 4;
    unsigned word = 0;
    for (int b = 0; b < 4; ++b) {
        int column = first + b;
        if (column >= columns) continue;
        float y = times((float)sums[row * columns + column], times(scale, scales[by_column ? column : 0])) + bias[column];
        if (relu && y < 0) y = 0;
        word |= (to_int8(y, scale_out) & 255u) << 8 * b;
    }
    q[i] = (int)word;
}

// A whole linear layer in 8 bits: y[M,N] = scales times (x[M,K] / scale in 8 bits) B[N,K] transposed. The integers of x are made on
// the way into shared memory, so that neither they nor the sums are ever in device memory; bits as of the three kernels above.
extern "C" __global__ void int8_linear_f32(const float* x, const int* b, const float* scales, float* y, int m, int n, int k,
                                           int words, int by_column, float scale) {
    __shared__ int x_tile[16][16];                                              // [row, word]
    __shared__ int b_tile[16][17];                                              // [column, word]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx, b_row = blockIdx.x * 16 + ty;
    int sum = 0;
    for (int w0 = 0; w0 < words; w0 += 16) {
        int first = (w0 + tx) * 4;
        unsigned word = 0;
        for (int i = 0; i < 4; ++i)
            if (row < m && first + i < k) word |= (to_int8(x[(size_t)row * k + first + i], scale) & 255u) << 8 * i;
        x_tile[ty][tx] = (int)word;
        b_tile[ty][tx] = b_row < n && w0 + tx < words ? b[b_row * words + w0 + tx] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum = dp4a(x_tile[ty][i], b_tile[tx][i], sum);
        __syncthreads();
    }
    if (row < m && column < n) y[row * n + column] = times((float)sum, times(scale, scales[by_column ? column : 0]));
}

// Weights alone in 8 bits: C[M,N] = A[M,K] (scale B)[N,K] transposed, made floats again on the way into shared memory.
extern "C" __global__ void int8_weight_matmul_f32(const float* a, const signed char* b, const float* scales, float* c, int m,
                                                  int n, int k, int padded, int by_column) {
    __shared__ float a_tile[16][16];                                            // [row, k]
    __shared__ float b_tile[16][17];                                            // [column, k]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx, b_row = blockIdx.x * 16 + ty;
    float sum = 0;
    for (int k0 = 0; k0 < k; k0 += 16) {
        a_tile[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0;
        b_tile[ty][tx] = b_row < n && k0 + tx < k ? (float)b[b_row * padded + k0 + tx] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a_tile[ty][i] * b_tile[tx][i];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum * scales[by_column ? column : 0];
}
