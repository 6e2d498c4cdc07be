// Normalisation of rows: R rows of C columns.
//     layer_norm  y = (x - mean) / sqrt(variance + epsilon) weight + bias      variance: biased, the mean of squares
//     rms_norm    y = x / sqrt(mean of x^2 + epsilon) weight
// One warp a row; what a row needs again (mean[R], inverse[R] = 1 / sqrt(..)) is kept for the backward pass, in the type of
// the sums. affine: 0 neither weight nor bias, 1 weight alone, 2 both.
// Backward, with h the normalised row and g = dy weight:  dx = inverse (g - mean(g) - h mean(g h)), for rms_norm without
// mean(g). The gradients of weight and bias are sums over the rows: a block owns 32 columns, as bias_grad does.
// Launch: ceil(R / 4) blocks of 128; weight gradients: ceil(C / 32) blocks of (32, 8).
// Bytes: 2 R C elements forward, 3 R C for dx, 2 R C for the weights; a row is read two or three times, mostly from cache.

#include "include/element.h"

template <class A>
__device__ A warp_sum(A value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}
__device__ inline float inverse_root(float x) { return 1 / sqrtf(x); }
__device__ inline double inverse_root(double x) { return 1 / sqrt(x); }

template <class T>
__device__ void layer_norm(const T* x, const T* weight, const T* bias, T* y, Acc<T>* mean, Acc<T>* inverse, int affine,
                           int rows, int columns, Acc<T> epsilon) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;                                                    // a whole warp leaves, or none
    const T* values = x + row * columns;                                        // [R,C]
    Acc<T> sum = 0, squares = 0;
    for (int i = lane; i < columns; i += 32) sum += Acc<T>(values[i]);
    Acc<T> centre = warp_sum(sum) / Acc<T>(columns);
    for (int i = lane; i < columns; i += 32) squares += (Acc<T>(values[i]) - centre) * (Acc<T>(values[i]) - centre);
    Acc<T> scale = inverse_root(warp_sum(squares) / Acc<T>(columns) + epsilon);
    for (int i = lane; i < columns; i += 32) {
        Acc<T> value = (Acc<T>(values[i]) - centre) * scale;
        if (affine > 0) value *= Acc<T>(weight[i]);
        if (affine > 1) value += Acc<T>(bias[i]);
        y[row * columns + i] = value;
    }
    if (lane == 0) mean[row] = centre, inverse[row] = scale;                    // [R]
}
FLOATS(layer_norm, (const T* x, const T* weight, const T* bias, T* y, Acc<T>* mean, Acc<T>* inverse, int affine, int rows,
                    int columns, Acc<T> epsilon), x, weight, bias, y, mean, inverse, affine, rows, columns, epsilon)

template <class T>
__device__ void layer_norm_backward(const T* x, const T* weight, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dx,
                                    int affine, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    Acc<T> centre = mean[row], scale = inverse[row], sum = 0, along = 0;
    for (int i = lane; i < columns; i += 32) {
        Acc<T> g = Acc<T>(dy[row * columns + i]) * (affine > 0 ? Acc<T>(weight[i]) : Acc<T>(1));
        sum += g;
        along += g * ((Acc<T>(x[row * columns + i]) - centre) * scale);
    }
    sum = warp_sum(sum) / Acc<T>(columns);
    along = warp_sum(along) / Acc<T>(columns);
    for (int i = lane; i < columns; i += 32) {
        Acc<T> g = Acc<T>(dy[row * columns + i]) * (affine > 0 ? Acc<T>(weight[i]) : Acc<T>(1));
        dx[row * columns + i] = scale * (g - sum - (Acc<T>(x[row * columns + i]) - centre) * scale * along);
    }
}
FLOATS(layer_norm_backward, (const T* x, const T* weight, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dx,
                             int affine, int rows, int columns), x, weight, mean, inverse, dy, dx, affine, rows, columns)

template <class T>
__device__ void layer_norm_weight_grad(const T* x, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dbias,
                                       T* dweight, int affine, int rows, int columns) {
    __shared__ Acc<T> partial[2][8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    Acc<T> along = 0, sum = 0;
    if (column < columns)
        for (int row = threadIdx.y; row < rows; row += 8) {
            Acc<T> g = dy[row * columns + column];
            along += g * ((Acc<T>(x[row * columns + column]) - mean[row]) * inverse[row]);
            sum += g;
        }
    partial[0][threadIdx.y][threadIdx.x] = along;
    partial[1][threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int i = 1; i < 8; ++i) along += partial[0][i][threadIdx.x], sum += partial[1][i][threadIdx.x];
        dweight[column] = along;                                                // [C]
        if (affine > 1) dbias[column] = sum;                                    // [C]
    }
}
FLOATS(layer_norm_weight_grad, (const T* x, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dbias, T* dweight,
                                int affine, int rows, int columns), x, mean, inverse, dy, dbias, dweight, affine, rows, columns)

template <class T>
__device__ void rms_norm(const T* x, const T* weight, T* y, Acc<T>* inverse, int affine, int rows, int columns,
                         Acc<T> epsilon) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    Acc<T> squares = 0;
    for (int i = lane; i < columns; i += 32) squares += Acc<T>(x[row * columns + i]) * Acc<T>(x[row * columns + i]);
    Acc<T> scale = inverse_root(warp_sum(squares) / Acc<T>(columns) + epsilon);
    for (int i = lane; i < columns; i += 32)
        y[row * columns + i] = Acc<T>(x[row * columns + i]) * scale * (affine > 0 ? Acc<T>(weight[i]) : Acc<T>(1));
    if (lane == 0) inverse[row] = scale;                                        // [R]
}
FLOATS(rms_norm, (const T* x, const T* weight, T* y, Acc<T>* inverse, int affine, int rows, int columns, Acc<T> epsilon), x,
       weight, y, inverse, affine, rows, columns, epsilon)

template <class T>
__device__ void rms_norm_backward(const T* x, const T* weight, const Acc<T>* inverse, const T* dy, T* dx, int affine, int rows,
                                  int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    Acc<T> scale = inverse[row], along = 0;
    for (int i = lane; i < columns; i += 32)
        along += Acc<T>(dy[row * columns + i]) * (affine > 0 ? Acc<T>(weight[i]) : Acc<T>(1)) *
                 (Acc<T>(x[row * columns + i]) * scale);
    along = warp_sum(along) / Acc<T>(columns);
    for (int i = lane; i < columns; i += 32) {
        Acc<T> g = Acc<T>(dy[row * columns + i]) * (affine > 0 ? Acc<T>(weight[i]) : Acc<T>(1));
        dx[row * columns + i] = scale * (g - Acc<T>(x[row * columns + i]) * scale * along);
    }
}
FLOATS(rms_norm_backward, (const T* x, const T* weight, const Acc<T>* inverse, const T* dy, T* dx, int affine, int rows,
                           int columns), x, weight, inverse, dy, dx, affine, rows, columns)

template <class T>
__device__ void rms_norm_weight_grad(const T* x, const Acc<T>* inverse, const T* dy, T* dweight, int rows, int columns) {
    __shared__ Acc<T> partial[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    Acc<T> along = 0;
    if (column < columns)
        for (int row = threadIdx.y; row < rows; row += 8)
            along += Acc<T>(dy[row * columns + column]) * (Acc<T>(x[row * columns + column]) * inverse[row]);
    partial[threadIdx.y][threadIdx.x] = along;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int i = 1; i < 8; ++i) along += partial[i][threadIdx.x];
        dweight[column] = along;                                                // [C]
    }
}
FLOATS(rms_norm_weight_grad, (const T* x, const Acc<T>* inverse, const T* dy, T* dweight, int rows, int columns), x, inverse,
       dy, dweight, rows, columns)
