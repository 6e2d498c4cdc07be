// Group normalisation of x[N,C,S]: each image's channels in G groups, a group of C/G S values normalised by itself:
//     y = (x - mean) / sqrt(variance + epsilon) weight[C] + bias[C]     affine: 0 neither, 2 both
// Nothing is shared between images, so the batch size does not matter. G = 1 takes all of an image, G = C a channel
// ("instance norm"). One block of 256 an image and group; mean[N,G] and inverse[N,G] = 1 / sqrt(..) are kept for backward.
// Backward as in norm_layer.cu; the gradients of weight and bias: one block of 256 a channel.
// Launch: N G blocks of 256; weight gradients: C blocks of 256.  Bytes: 2 N C S elements forward, 3 N C S for dx, 2 N C S.

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

template <class T>
__device__ void group_norm(const T* x, const T* weight, const T* bias, T* y, Acc<T>* mean, Acc<T>* inverse, int affine,
                           int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    int count = channels / groups * inner, begin = blockIdx.x * count, first = blockIdx.x % groups * (channels / groups);
    Acc<T> sum = 0, squares = 0;
    for (int i = threadIdx.x; i < count; i += 256) sum += Acc<T>(x[begin + i]);
    Acc<T> centre = block_sum(sum) / Acc<T>(count);
    for (int i = threadIdx.x; i < count; i += 256) squares += (Acc<T>(x[begin + i]) - centre) * (Acc<T>(x[begin + i]) - centre);
    Acc<T> scale = inverse_root(block_sum(squares) / Acc<T>(count) + epsilon);
    for (int i = threadIdx.x; i < count; i += 256) {
        Acc<T> value = (Acc<T>(x[begin + i]) - centre) * scale;
        if (affine > 0) value *= Acc<T>(weight[first + i / inner]);
        if (affine > 1) value += Acc<T>(bias[first + i / inner]);
        y[begin + i] = value;                                                   // [N,C,S]
    }
    if (threadIdx.x == 0) mean[blockIdx.x] = centre, inverse[blockIdx.x] = scale;
}
FLOATS(group_norm, (const T* x, const T* weight, const T* bias, T* y, Acc<T>* mean, Acc<T>* inverse, int affine, int batch,
                    int channels, int inner, int groups, Acc<T> epsilon), x, weight, bias, y, mean, inverse, affine, batch,
       channels, inner, groups, epsilon)

template <class T>
__device__ void group_norm_backward(const T* x, const T* weight, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dx,
                                    int affine, int batch, int channels, int inner, int groups) {
    int count = channels / groups * inner, begin = blockIdx.x * count, first = blockIdx.x % groups * (channels / groups);
    Acc<T> centre = mean[blockIdx.x], scale = inverse[blockIdx.x], sum = 0, along = 0;
    for (int i = threadIdx.x; i < count; i += 256) {
        Acc<T> g = Acc<T>(dy[begin + i]) * (affine > 0 ? Acc<T>(weight[first + i / inner]) : Acc<T>(1));
        sum += g;
        along += g * ((Acc<T>(x[begin + i]) - centre) * scale);
    }
    sum = block_sum(sum) / Acc<T>(count);
    along = block_sum(along) / Acc<T>(count);
    for (int i = threadIdx.x; i < count; i += 256) {
        Acc<T> g = Acc<T>(dy[begin + i]) * (affine > 0 ? Acc<T>(weight[first + i / inner]) : Acc<T>(1));
        dx[begin + i] = scale * (g - sum - (Acc<T>(x[begin + i]) - centre) * scale * along);
    }
}
FLOATS(group_norm_backward, (const T* x, const T* weight, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dx,
                             int affine, int batch, int channels, int inner, int groups), x, weight, mean, inverse, dy, dx,
       affine, batch, channels, inner, groups)

template <class T>
__device__ void group_norm_weight_grad(const T* x, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dweight,
                                       T* dbias, int batch, int channels, int inner, int groups) {
    int channel = blockIdx.x;
    Acc<T> along = 0, sum = 0;
    for (int i = threadIdx.x; i < batch * inner; i += 256) {
        int image = i / inner, at = (image * channels + channel) * inner + i % inner;
        int group = image * groups + channel / (channels / groups);
        Acc<T> g = dy[at];
        along += g * ((Acc<T>(x[at]) - mean[group]) * inverse[group]);
        sum += g;
    }
    along = block_sum(along);
    sum = block_sum(sum);
    if (threadIdx.x == 0) dweight[channel] = along, dbias[channel] = sum;       // [C]
}
FLOATS(group_norm_weight_grad, (const T* x, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dweight, T* dbias,
                                int batch, int channels, int inner, int groups), x, mean, inverse, dy, dweight, dbias, batch,
       channels, inner, groups)
