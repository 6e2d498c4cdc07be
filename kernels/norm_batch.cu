// Batch normalisation of x[N,C,S] (N images, C channels, S = H W positions; S = 1 behind a linear layer):
//     y = (x - mean) / sqrt(variance + epsilon) weight + bias           affine: 0 neither, 2 both
// batch_norm_statistics   mean[G,C] and biased variance[G,C] of each channel over the N / G images of a group. One group is
//                         plain batch norm; more are "ghost" batches, which see less of the batch and are noisier.
// batch_norm              the formula, elementwise; also for evaluation, with one group and the running statistics.
// batch_norm_running      running = (1 - momentum) running + momentum (group's), group after group; the variance unbiased.
// batch_norm_given        the running statistics as mean and variance, in the type of sums, for evaluation.
// batch_norm_sums         sum of dy, and of dy h with h the normalised x, by group and channel. They give the gradients of
//                         bias and weight (batch_norm_weight_grad: summed over groups), and what dx needs:
// batch_norm_backward     dx = weight / sqrt(..) (dy - mean(dy) - h mean(dy h)); in evaluation (training 0) the first term.
// batch_norm_given_grad   what the given statistics would get as gradients in evaluation.
// Statistics and sums are in the type of sums. One block of 256 a group and channel for statistics and sums; one thread an
// element else: ceil(elements / 256) blocks of 256.
// Bytes: N C S elements for the statistics, 2 N C S for y, 2 N C S for the sums, 3 N C S for dx.

#include "include/element.h"

__device__ inline float inverse_root(float x) { return 1 / sqrtf(x); }
__device__ inline double inverse_root(double x) { return 1 / sqrt(x); }

// The sum over a block of 256, for every thread of it.
template <class A>
__device__ A block_sum(A part) {
    __shared__ A partial[256];
    int t = threadIdx.x;
    __syncthreads();                                                            // the last sum has been read
    partial[t] = part;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    __syncthreads();
    return partial[0];
}

// Where element i of block b's channel lies: its group's images follow one another.
__device__ inline int place(int i, int b, int images, int channels, int inner) {
    return ((b / channels * images + i / inner) * channels + b % channels) * inner + i % inner;   // [N,C,S]
}

template <class T>
__device__ void batch_norm_statistics(const T* x, Acc<T>* mean, Acc<T>* variance, int batch, int channels, int inner,
                                      int groups) {
    int images = batch / groups, count = images * inner, b = blockIdx.x;
    Acc<T> sum = 0, squares = 0;
    for (int i = threadIdx.x; i < count; i += 256) sum += Acc<T>(x[place(i, b, images, channels, inner)]);
    Acc<T> centre = block_sum(sum) / Acc<T>(count);
    for (int i = threadIdx.x; i < count; i += 256) {
        Acc<T> apart = Acc<T>(x[place(i, b, images, channels, inner)]) - centre;
        squares += apart * apart;
    }
    squares = block_sum(squares);
    if (threadIdx.x == 0) mean[b] = centre, variance[b] = squares / Acc<T>(count);                // [G,C]
}
FLOATS(batch_norm_statistics, (const T* x, Acc<T>* mean, Acc<T>* variance, int batch, int channels, int inner, int groups), x,
       mean, variance, batch, channels, inner, groups)

template <class T>
__device__ void batch_norm(const T* x, const Acc<T>* mean, const Acc<T>* variance, const T* weight, const T* bias, T* y,
                           int affine, int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels * inner) return;
    int channel = i / inner % channels, group = i / (inner * channels) / (batch / groups);
    Acc<T> value = (Acc<T>(x[i]) - mean[group * channels + channel]) *
                   inverse_root(variance[group * channels + channel] + epsilon);
    if (affine > 0) value *= Acc<T>(weight[channel]);
    if (affine > 1) value += Acc<T>(bias[channel]);
    y[i] = value;
}
FLOATS(batch_norm, (const T* x, const Acc<T>* mean, const Acc<T>* variance, const T* weight, const T* bias, T* y, int affine,
                    int batch, int channels, int inner, int groups, Acc<T> epsilon), x, mean, variance, weight, bias, y,
       affine, batch, channels, inner, groups, epsilon)

template <class T>
__device__ void batch_norm_running(const Acc<T>* mean, const Acc<T>* variance, T* running_mean, T* running_variance,
                                   int channels, int groups, int count, Acc<T> momentum) {
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    Acc<T> unbiased = count > 1 ? Acc<T>(count) / Acc<T>(count - 1) : Acc<T>(1);                  // `count` values a group
    Acc<T> centre = running_mean[channel], spread = running_variance[channel];
    for (int group = 0; group < groups; ++group) {
        int i = group * channels + channel;
        centre = (1 - momentum) * centre + momentum * mean[i];
        spread = (1 - momentum) * spread + momentum * (variance[i] * unbiased);
    }
    running_mean[channel] = centre;                                                               // [C]
    running_variance[channel] = spread;
}
FLOATS(batch_norm_running, (const Acc<T>* mean, const Acc<T>* variance, T* running_mean, T* running_variance, int channels,
                            int groups, int count, Acc<T> momentum), mean, variance, running_mean, running_variance, channels,
       groups, count, momentum)

template <class T>
__device__ void batch_norm_given(const T* running_mean, const T* running_variance, Acc<T>* mean, Acc<T>* variance,
                                 int channels) {
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel < channels) mean[channel] = running_mean[channel], variance[channel] = running_variance[channel];
}
FLOATS(batch_norm_given, (const T* running_mean, const T* running_variance, Acc<T>* mean, Acc<T>* variance, int channels),
       running_mean, running_variance, mean, variance, channels)

template <class T>
__device__ void batch_norm_given_grad(const Acc<T>* variance, const T* weight, const Acc<T>* dy_sum, const Acc<T>* along,
                                      T* dmean, T* dvariance, int affine, int channels, Acc<T> epsilon) {
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    Acc<T> scale = inverse_root(variance[channel] + epsilon), factor = affine > 0 ? Acc<T>(weight[channel]) : Acc<T>(1);
    dmean[channel] = -factor * scale * dy_sum[channel];                                           // [C]
    dvariance[channel] = Acc<T>(-0.5) * factor * scale * scale * along[channel];
}
FLOATS(batch_norm_given_grad, (const Acc<T>* variance, const T* weight, const Acc<T>* dy_sum, const Acc<T>* along, T* dmean,
                               T* dvariance, int affine, int channels, Acc<T> epsilon), variance, weight, dy_sum, along, dmean,
       dvariance, affine, channels, epsilon)

template <class T>
__device__ void batch_norm_sums(const T* x, const T* dy, const Acc<T>* mean, const Acc<T>* variance, Acc<T>* dy_sum,
                                Acc<T>* along, int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    int images = batch / groups, count = images * inner, b = blockIdx.x;
    Acc<T> centre = mean[b], scale = inverse_root(variance[b] + epsilon), sum = 0, product = 0;
    for (int i = threadIdx.x; i < count; i += 256) {
        int at = place(i, b, images, channels, inner);
        Acc<T> g = dy[at];
        sum += g;
        product += g * ((Acc<T>(x[at]) - centre) * scale);
    }
    sum = block_sum(sum);
    product = block_sum(product);
    if (threadIdx.x == 0) dy_sum[b] = sum, along[b] = product;                                    // [G,C]
}
FLOATS(batch_norm_sums, (const T* x, const T* dy, const Acc<T>* mean, const Acc<T>* variance, Acc<T>* dy_sum, Acc<T>* along,
                         int batch, int channels, int inner, int groups, Acc<T> epsilon), x, dy, mean, variance, dy_sum,
       along, batch, channels, inner, groups, epsilon)

template <class T>
__device__ void batch_norm_weight_grad(const Acc<T>* dy_sum, const Acc<T>* along, T* dweight, T* dbias, int channels,
                                       int groups) {
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    Acc<T> weight = 0, bias = 0;
    for (int group = 0; group < groups; ++group) {
        weight += along[group * channels + channel];
        bias += dy_sum[group * channels + channel];
    }
    dweight[channel] = weight;                                                                    // [C]
    dbias[channel] = bias;
}
FLOATS(batch_norm_weight_grad, (const Acc<T>* dy_sum, const Acc<T>* along, T* dweight, T* dbias, int channels, int groups),
       dy_sum, along, dweight, dbias, channels, groups)

template <class T>
__device__ void batch_norm_backward(const T* x, const T* dy, const Acc<T>* mean, const Acc<T>* variance, const T* weight,
                                    const Acc<T>* dy_sum, const Acc<T>* along, T* dx, int affine, int training, int batch,
                                    int channels, int inner, int groups, Acc<T> epsilon) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels * inner) return;
    int channel = i / inner % channels, b = i / (inner * channels) / (batch / groups) * channels + channel;
    Acc<T> scale = inverse_root(variance[b] + epsilon), value = dy[i], count = Acc<T>(batch / groups * inner);
    if (training) value = value - dy_sum[b] / count - (Acc<T>(x[i]) - mean[b]) * scale * (along[b] / count);
    value *= scale;
    if (affine > 0) value *= Acc<T>(weight[channel]);
    dx[i] = value;                                                                                // [N,C,S]
}
FLOATS(batch_norm_backward, (const T* x, const T* dy, const Acc<T>* mean, const Acc<T>* variance, const T* weight,
                             const Acc<T>* dy_sum, const Acc<T>* along, T* dx, int affine, int training, int batch,
                             int channels, int inner, int groups, Acc<T> epsilon), x, dy, mean, variance, weight, dy_sum,
       along, dx, affine, training, batch, channels, inner, groups, epsilon)
