// Pooling: a window's largest value or its mean, for each of N C planes x[H,W] -> y[OH,OW].
// max_pool2d keeps where each largest value was, index[OH,OW] = row W + column, so that its backward needs no x; a NaN wins.
// avg_pool2d divides by the whole window, or, without count_padding, by what of it lies inside.
// adaptive_avg_pool2d: window i goes from floor(i H / OH) to ceil((i + 1) H / OH). plane_mean: one value a plane.
// Forward: one thread an element of y. Backward: one thread an element of x, which collects from its windows in a fixed
// order: no atomics, the same bits every time. Launch ceil(elements / 256) blocks of 256.
// plane_mean: one warp a plane; launch ceil(planes / 4) blocks of 128.
// Bytes: x and y (and index) once each.

#include "include/element.h"

#define POOLING                                                                                                         \
    int planes, int height, int width, int out_height, int out_width, int kernel_height, int kernel_width,              \
        int stride_down, int stride_right, int padding_down, int padding_right
#define SIZES                                                                                                           \
    planes, height, width, out_height, out_width, kernel_height, kernel_width, stride_down, stride_right, padding_down, \
        padding_right

template <class T>
__device__ void max_pool2d(const T* x, T* y, int* index, POOLING) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * out_height * out_width) return;
    int top = i / out_width % out_height * stride_down - padding_down, left = i % out_width * stride_right - padding_right;
    const T* plane = x + i / (out_width * out_height) * height * width;
    Acc<T> largest = 0;
    int found = -1;
    for (int r = 0; r < kernel_height; ++r)
        for (int c = 0; c < kernel_width; ++c) {
            int row = top + r, column = left + c;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            Acc<T> value = plane[row * width + column];
            if (found < 0 || value > largest || value != value) largest = value, found = row * width + column;
        }
    y[i] = largest;
    index[i] = found;
}
FLOATS(max_pool2d, (const T* x, T* y, int* index, POOLING), x, y, index, SIZES)

template <class T>
__device__ void max_pool2d_backward(const T* dy, const int* index, T* dx, POOLING) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * height * width) return;
    int column = i % width, row = i / width % height, plane = i / (width * height);
    Acc<T> sum = 0;
    for (int r = 0; r < kernel_height; ++r) {
        int down = row + padding_down - r, out_row = down / stride_down;
        if (down < 0 || down % stride_down != 0 || out_row >= out_height) continue;
        for (int c = 0; c < kernel_width; ++c) {
            int right = column + padding_right - c, out_column = right / stride_right;
            if (right < 0 || right % stride_right != 0 || out_column >= out_width) continue;
            int from = (plane * out_height + out_row) * out_width + out_column;
            if (index[from] == row * width + column) sum += Acc<T>(dy[from]);
        }
    }
    dx[i] = sum;
}
FLOATS(max_pool2d_backward, (const T* dy, const int* index, T* dx, POOLING), dy, index, dx, SIZES)

// How many of `size` places, from `begin` on, lie in 0 .. extent - 1.
__device__ inline int inside(int begin, int size, int extent) {
    return min(begin + size, extent) - max(begin, 0);
}

template <class T>
__device__ void avg_pool2d(const T* x, T* y, int count_padding, POOLING) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * out_height * out_width) return;
    int top = i / out_width % out_height * stride_down - padding_down, left = i % out_width * stride_right - padding_right;
    const T* plane = x + i / (out_width * out_height) * height * width;
    Acc<T> sum = 0;
    for (int r = 0; r < kernel_height; ++r)
        for (int c = 0; c < kernel_width; ++c) {
            int row = top + r, column = left + c;
            if (row >= 0 && row < height && column >= 0 && column < width) sum += Acc<T>(plane[row * width + column]);
        }
    int count = count_padding ? kernel_height * kernel_width
                              : inside(top, kernel_height, height) * inside(left, kernel_width, width);
    y[i] = sum / Acc<T>(count);
}
FLOATS(avg_pool2d, (const T* x, T* y, int count_padding, POOLING), x, y, count_padding, SIZES)

template <class T>
__device__ void avg_pool2d_backward(const T* dy, T* dx, int count_padding, POOLING) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * height * width) return;
    int column = i % width, row = i / width % height, plane = i / (width * height);
    Acc<T> sum = 0;
    for (int r = 0; r < kernel_height; ++r) {
        int down = row + padding_down - r, out_row = down / stride_down;
        if (down < 0 || down % stride_down != 0 || out_row >= out_height) continue;
        for (int c = 0; c < kernel_width; ++c) {
            int right = column + padding_right - c, out_column = right / stride_right;
            if (right < 0 || right % stride_right != 0 || out_column >= out_width) continue;
            int count = count_padding ? kernel_height * kernel_width
                                      : inside(down - padding_down, kernel_height, height) *
                                            inside(right - padding_right, kernel_width, width);
            sum += Acc<T>(dy[(plane * out_height + out_row) * out_width + out_column]) / Acc<T>(count);
        }
    }
    dx[i] = sum;
}
FLOATS(avg_pool2d_backward, (const T* dy, T* dx, int count_padding, POOLING), dy, dx, count_padding, SIZES)

template <class T>
__device__ void adaptive_avg_pool2d(const T* x, T* y, int planes, int height, int width, int out_height, int out_width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * out_height * out_width) return;
    int out_row = i / out_width % out_height, out_column = i % out_width;
    int top = out_row * height / out_height, bottom = ((out_row + 1) * height + out_height - 1) / out_height;
    int left = out_column * width / out_width, right = ((out_column + 1) * width + out_width - 1) / out_width;
    const T* plane = x + i / (out_width * out_height) * height * width;
    Acc<T> sum = 0;
    for (int row = top; row < bottom; ++row)
        for (int column = left; column < right; ++column) sum += Acc<T>(plane[row * width + column]);
    y[i] = sum / Acc<T>((bottom - top) * (right - left));
}
FLOATS(adaptive_avg_pool2d, (const T* x, T* y, int planes, int height, int width, int out_height, int out_width), x, y, planes,
       height, width, out_height, out_width)

template <class T>
__device__ void adaptive_avg_pool2d_backward(const T* dy, T* dx, int planes, int height, int width, int out_height,
                                             int out_width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * height * width) return;
    int column = i % width, row = i / width % height, plane = i / (width * height);
    Acc<T> sum = 0;
    for (int out_row = row * out_height / height; out_row < out_height; ++out_row) {           // the first window with `row`
        int top = out_row * height / out_height, bottom = ((out_row + 1) * height + out_height - 1) / out_height;
        if (top > row) break;
        for (int out_column = column * out_width / width; out_column < out_width; ++out_column) {
            int left = out_column * width / out_width, right = ((out_column + 1) * width + out_width - 1) / out_width;
            if (left > column) break;
            sum += Acc<T>(dy[(plane * out_height + out_row) * out_width + out_column]) /
                   Acc<T>((bottom - top) * (right - left));
        }
    }
    dx[i] = sum;
}
FLOATS(adaptive_avg_pool2d_backward, (const T* dy, T* dx, int planes, int height, int width, int out_height, int out_width),
       dy, dx, planes, height, width, out_height, out_width)

template <class T>
__device__ void plane_mean(const T* x, T* y, int planes, int size) {
    int plane = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (plane >= planes) return;                                                              // a whole warp leaves, or none
    Acc<T> sum = 0;
    for (int i = lane; i < size; i += 32) sum += Acc<T>(x[plane * size + i]);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0) y[plane] = sum / Acc<T>(size);
}
FLOATS(plane_mean, (const T* x, T* y, int planes, int size), x, y, planes, size)

template <class T>
__device__ void plane_mean_backward(const T* dy, T* dx, int planes, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < planes * size) dx[i] = Acc<T>(dy[i / size]) / Acc<T>(size);
}
FLOATS(plane_mean_backward, (const T* dy, T* dx, int planes, int size), dy, dx, planes, size)
