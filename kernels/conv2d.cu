// Convolution of images, computed directly: no matrix is made.
//     y[N,F,OH,OW] = w[F,C/G,KH,KW] * x[N,C,H,W] + bias[F]
// with stride, padding by zeros and dilation by axis, in G groups: filter f sees only the C/G channels of its group.
// conv2d:                 one thread an element of y, which walks along channels, rows and columns of its filter.
// conv2d_backward_data:   one thread an element of x: it collects dy from the windows that it was part of.
// conv2d_backward_weight: one block of 256 an element of w: its threads share out the images and positions; a tree in shared
//                         memory adds what they found, so the result is the same every time.
// channel_sum:            one block of 256 a channel of x[N,C,S]: the gradient of a bias.
// add_channel:            y[N,C,S] += bias[C], for a transposed convolution, which is conv2d_backward_data run forwards.
// Launch: ceil(elements / 256) blocks of 256; F C/G KH KW blocks of 256; C blocks of 256.
// Bytes: x, w and y (dx, dw and dy) once each, from device memory; windows overlap, so a cache serves KH KW reads of each.

#include "include/element.h"

#define CONVOLUTION                                                                                                     \
    int batch, int channels, int height, int width, int filters, int out_height, int out_width, int kernel_height,      \
        int kernel_width, int stride_down, int stride_right, int padding_down, int padding_right, int dilation_down,    \
        int dilation_right, int groups
#define SIZES                                                                                                           \
    batch, channels, height, width, filters, out_height, out_width, kernel_height, kernel_width, stride_down,           \
        stride_right, padding_down, padding_right, dilation_down, dilation_right, groups

template <class T>
__device__ void conv2d(const T* x, const T* w, const T* bias, T* y, int has_bias, CONVOLUTION) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * filters * out_height * out_width) return;
    int out_column = i % out_width, out_row = i / out_width % out_height;
    int filter = i / (out_width * out_height) % filters, image = i / (out_width * out_height * filters);
    int depth = channels / groups, first = filter / (filters / groups) * depth;  // the channels that this filter sees
    int top = out_row * stride_down - padding_down, left = out_column * stride_right - padding_right;

    Acc<T> sum = has_bias ? Acc<T>(bias[filter]) : Acc<T>(0);
    for (int channel = 0; channel < depth; ++channel) {
        const T* plane = x + (image * channels + first + channel) * height * width;          // [H,W]
        const T* tap = w + (filter * depth + channel) * kernel_height * kernel_width;         // [KH,KW]
        for (int r = 0; r < kernel_height; ++r) {
            int row = top + r * dilation_down;
            if (row < 0 || row >= height) continue;
            for (int c = 0; c < kernel_width; ++c) {
                int column = left + c * dilation_right;
                if (column >= 0 && column < width)
                    sum += Acc<T>(plane[row * width + column]) * Acc<T>(tap[r * kernel_width + c]);
            }
        }
    }
    y[i] = sum;                                                                               // [N,F,OH,OW]
}
FLOATS(conv2d, (const T* x, const T* w, const T* bias, T* y, int has_bias, CONVOLUTION), x, w, bias, y, has_bias, SIZES)

template <class T>
__device__ void conv2d_backward_data(const T* w, const T* dy, T* dx, CONVOLUTION) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels * height * width) return;
    int column = i % width, row = i / width % height;
    int channel = i / (width * height) % channels, image = i / (width * height * channels);
    int depth = channels / groups, seen_by = filters / groups, first = channel / depth * seen_by;

    Acc<T> sum = 0;
    for (int f = first; f < first + seen_by; ++f) {
        const T* plane = dy + (image * filters + f) * out_height * out_width;                 // [OH,OW]
        const T* tap = w + (f * depth + channel % depth) * kernel_height * kernel_width;      // [KH,KW]
        for (int r = 0; r < kernel_height; ++r) {
            int down = row + padding_down - r * dilation_down, out_row = down / stride_down;
            if (down < 0 || down % stride_down != 0 || out_row >= out_height) continue;
            for (int c = 0; c < kernel_width; ++c) {
                int right = column + padding_right - c * dilation_right, out_column = right / stride_right;
                if (right >= 0 && right % stride_right == 0 && out_column < out_width)
                    sum += Acc<T>(plane[out_row * out_width + out_column]) * Acc<T>(tap[r * kernel_width + c]);
            }
        }
    }
    dx[i] = sum;                                                                              // [N,C,H,W]
}
FLOATS(conv2d_backward_data, (const T* w, const T* dy, T* dx, CONVOLUTION), w, dy, dx, SIZES)

// The sum that thread 0 of a block of 256 gets of every thread's part.
template <class A>
__device__ A block_sum(A part) {
    __shared__ A partial[256];
    int t = threadIdx.x;
    partial[t] = part;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    return partial[0];
}

template <class T>
__device__ void conv2d_backward_weight(const T* x, const T* dy, T* dw, CONVOLUTION) {
    int c = blockIdx.x % kernel_width, r = blockIdx.x / kernel_width % kernel_height;
    int depth = channels / groups, channel = blockIdx.x / (kernel_width * kernel_height) % depth;
    int filter = blockIdx.x / (kernel_width * kernel_height * depth);
    int from = filter / (filters / groups) * depth + channel, positions = out_height * out_width;

    Acc<T> sum = 0;
    for (int i = threadIdx.x; i < batch * positions; i += 256) {
        int image = i / positions, position = i % positions;
        int row = position / out_width * stride_down - padding_down + r * dilation_down;
        int column = position % out_width * stride_right - padding_right + c * dilation_right;
        if (row >= 0 && row < height && column >= 0 && column < width)
            sum += Acc<T>(x[((image * channels + from) * height + row) * width + column]) *
                   Acc<T>(dy[(image * filters + filter) * positions + position]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) dw[blockIdx.x] = sum;                                               // [F,C/G,KH,KW]
}
FLOATS(conv2d_backward_weight, (const T* x, const T* dy, T* dw, CONVOLUTION), x, dy, dw, SIZES)

template <class T>
__device__ void channel_sum(const T* x, T* sums, int batch, int channels, int inner) {
    Acc<T> sum = 0;
    for (int i = threadIdx.x; i < batch * inner; i += 256)
        sum += Acc<T>(x[(i / inner * channels + blockIdx.x) * inner + i % inner]);            // [N,C,S]
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;                                             // [C]
}
FLOATS(channel_sum, (const T* x, T* sums, int batch, int channels, int inner), x, sums, batch, channels, inner)

template <class T>
__device__ void add_channel(T* y, const T* bias, int batch, int channels, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * channels * inner) y[i] = Acc<T>(y[i]) + Acc<T>(bias[i / inner % channels]);
}
FLOATS(add_channel, (T* y, const T* bias, int batch, int channels, int inner), y, bias, batch, channels, inner)
