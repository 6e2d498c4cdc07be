// A linear layer's bias: y = x + bias for every row of a batch, and its gradient, the sum of dy over the rows.
// R rows, C columns, row-major.
// add_bias:  one thread an element; launch ceil(R C / 256) blocks of 256.  Bytes: 2 R C + C elements.
// bias_grad: a block owns 32 columns and walks down the rows 8 at a time, so that a warp reads 32 neighbours; then the 8
//            partial sums of a column are added in order, so the result is the same every time.
//            Launch ceil(C / 32) blocks of (32, 8).  Bytes: R C + C elements.

#include "include/element.h"

template <class T>
__device__ void add_bias(const T* x, const T* bias, T* y, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) y[i] = Acc<T>(x[i]) + Acc<T>(bias[i % columns]);    // [R,C] + [C]
}
FLOATS(add_bias, (const T* x, const T* bias, T* y, int rows, int columns), x, bias, y, rows, columns)

template <class T>
__device__ void bias_grad(const T* dy, T* dbias, int rows, int columns) {
    __shared__ Acc<T> partial[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    Acc<T> sum = 0;
    if (column < columns)
        for (int row = threadIdx.y; row < rows; row += 8) sum += Acc<T>(dy[row * columns + column]);  // [R,C]
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int i = 1; i < 8; ++i) sum += partial[i][threadIdx.x];
        dbias[column] = sum;                                                    // [C]
    }
}
FLOATS(bias_grad, (const T* dy, T* dbias, int rows, int columns), dy, dbias, rows, columns)
