// Kernels that memory alone should limit: norms and softmax of rows, a fused chain of elementwise steps, and the copy they are held against. Launch: about eight blocks of 256 an SM (any number is right). arch: sm_80
//
// Every access is 16 bytes a lane, every element is read once and written once: a row stays in registers while its mean, its
// maximum or its sums go round the warp, or round the block. `_warp` kernels give a row to each warp,
// `_block` kernels to each block. Columns are a multiple of a vector (8 f16, 4 f32), at most:
//     _warp   1024 f16, 512 f32             _block   8192 f16, 4096 f32
#include "../include/element.h"

namespace {

constexpr int threads = 256, most = 4;  // vectors a thread

template <class T> struct alignas(16) Vector {
    static constexpr int size = 16 / sizeof(T);
    T at[size];
};
template <class T> __device__ Vector<T> load(const T* x, long long i) {
    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(x) + i);
    return *reinterpret_cast<const Vector<T>*>(&bits);
}
template <class T> __device__ void store(T* y, long long i, const Vector<T>& v) {
    __stcs(reinterpret_cast<uint4*>(y) + i, *reinterpret_cast<const uint4*>(&v));
}

// Sums of two numbers, or the larger and a sum scaled to it, of a row's `width` threads; each thread gets the result.
struct Add {
    __device__ static float2 one(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
};
struct Larger {  // (maximum, sum of exp(x - maximum))
    __device__ static float2 one(float2 a, float2 b) {
        const float top = fmaxf(a.x, b.x);
        return make_float2(top, a.y * __expf(a.x - top) + b.y * __expf(b.x - top));
    }
};
template <int width, class Of> __device__ float2 together(float2 v) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2)
        v = Of::one(v, make_float2(__shfl_xor_sync(~0u, v.x, apart), __shfl_xor_sync(~0u, v.y, apart)));
    if (width == 32) return v;
    __shared__ float2 parts[threads / 32];
    __syncthreads();  // nobody reads what stood here before
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
#pragma unroll
    for (int i = 1; i < threads / 32; ++i) v = Of::one(v, parts[i]);
    return v;
}

// A row in registers: vector i of thread t is t + i width of the row.
template <class T, int width> struct Row {
    Vector<T> held[most];
    long long first;
    int vectors, thread = threadIdx.x % width;
    __device__ Row(const T* x, int row, int columns) : vectors(columns / Vector<T>::size) {
        first = (long long)row * vectors;
#pragma unroll
        for (int i = 0; i < most; ++i)
            if (inside(i)) held[i] = load(x, first + thread + i * width);
    }
    __device__ bool inside(int i) const { return thread + i * width < vectors; }
    template <class Do> __device__ void each(Do work) const {
#pragma unroll
        for (int i = 0; i < most; ++i)
            if (inside(i))
#pragma unroll
                for (int e = 0; e < Vector<T>::size; ++e) work(float(held[i].at[e]), i * Vector<T>::size + e);
    }
    // y[i] = work(x[i], weight[i], bias[i], number within the thread) where there are such.
    template <class Do> __device__ void write(T* y, const T* weight, const T* bias, Do work) const {
#pragma unroll
        for (int i = 0; i < most; ++i) {
            if (!inside(i)) continue;
            Vector<T> w, b, out;
            if (weight) w = reinterpret_cast<const Vector<T>*>(weight)[thread + i * width];
            if (bias) b = reinterpret_cast<const Vector<T>*>(bias)[thread + i * width];
#pragma unroll
            for (int e = 0; e < Vector<T>::size; ++e)
                out.at[e] = T(work(float(held[i].at[e]), weight ? float(w.at[e]) : 1.0f, bias ? float(b.at[e]) : 0.0f,
                                       i * Vector<T>::size + e));
            store(y, first + thread + i * width, out);
        }
    }
};

template <class T, int width, class Work> __device__ void every_row(int rows, Work work) {
    const int at_once = gridDim.x * (threads / width);
    for (int row = blockIdx.x * (threads / width) + threadIdx.x / width; row < rows; row += at_once) work(row);
}

// y = (x - mean) / sqrt(variance + epsilon) weight + bias
template <class T, int width>
__device__ void layer_norm(const T* x, const T* weight, const T* bias, T* y, int rows, int columns, float epsilon) {
    every_row<T, width>(rows, [&](int number) {
        const Row<T, width> row(x, number, columns);
        float sum = 0, squares = 0;
        row.each([&](float v, int) { sum += v; });
        const float mean = together<width, Add>(make_float2(sum, 0)).x / columns;
        row.each([&](float v, int) { squares += (v - mean) * (v - mean); });
        const float inverse = rsqrtf(together<width, Add>(make_float2(squares, 0)).x / columns + epsilon);
        row.write(y, weight, bias, [&](float v, float w, float b, int) { return (v - mean) * inverse * w + b; });
    });
}
// y = x / sqrt(mean square + epsilon) weight
template <class T, int width> __device__ void rms_norm(const T* x, const T* weight, T* y, int rows, int columns, float epsilon) {
    every_row<T, width>(rows, [&](int number) {
        const Row<T, width> row(x, number, columns);
        float squares = 0;
        row.each([&](float v, int) { squares += v * v; });
        const float inverse = rsqrtf(together<width, Add>(make_float2(squares, 0)).x / columns + epsilon);
        row.write(y, weight, (const T*)nullptr, [&](float v, float w, float, int) { return v * inverse * w; });
    });
}
// y = exp(x - max) / sum
template <class T, int width> __device__ void softmax(const T* x, T* y, int rows, int columns) {
    every_row<T, width>(rows, [&](int number) {
        const Row<T, width> row(x, number, columns);
        float top = -3.4e38f, sum = 0, powers[most * Vector<T>::size];  // exp once an element: of what lies below the thread's own maximum
        row.each([&](float v, int) { top = fmaxf(top, v); });
        row.each([&](float v, int i) { sum += powers[i] = __expf(v - top); });
        const float2 all = together<width, Larger>(make_float2(top, sum));
        const float part = __expf(top - all.x) / all.y;
        row.write(y, (const T*)nullptr, (const T*)nullptr, [&](float, float, float, int i) { return powers[i] * part; });
    });
}
// y = gelu(x + bias) + residual: three kernels' work in one pass; gelu by tanh, 0.5 u (1 + tanh z) = u / (1 + exp(-2 z)).
template <class T> __device__ void fused(const T* x, const T* bias, const T* residual, T* y, int rows, int columns) {
    const int vectors = columns / Vector<T>::size, all = rows * vectors, step = gridDim.x * threads;
#pragma unroll 2
    for (int i = blockIdx.x * threads + threadIdx.x; i < all; i += step) {
        const Vector<T> a = load(x, i), r = load(residual, i), b = reinterpret_cast<const Vector<T>*>(bias)[i % vectors];
        Vector<T> out;
#pragma unroll
        for (int e = 0; e < Vector<T>::size; ++e) {
            const float u = float(a.at[e]) + float(b.at[e]);
            out.at[e] = T(u / (1 + __expf(-1.5957691216057308f * (u + 0.044715f * u * u * u))) + float(r.at[e]));
        }
        store(y, i, out);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) copy_vectors(const float4* x, float4* y, int n) {  // the yardstick
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) __stcs(y + i, __ldcs(x + i));
}
#define ROWS(T, name)                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) layer_norm_warp_##name(                                                   \
        const T* x, const T* weight, const T* bias, T* y, int rows, int columns, float epsilon) {                                   \
        layer_norm<T, 32>(x, weight, bias, y, rows, columns, epsilon);                                                              \
    }                                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) layer_norm_block_##name(                                                  \
        const T* x, const T* weight, const T* bias, T* y, int rows, int columns, float epsilon) {                                   \
        layer_norm<T, threads>(x, weight, bias, y, rows, columns, epsilon);                                                         \
    }                                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) rms_norm_warp_##name(const T* x, const T* weight, T* y, int rows,         \
                                                                               int columns, float epsilon) {                       \
        rms_norm<T, 32>(x, weight, y, rows, columns, epsilon);                                                                      \
    }                                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) rms_norm_block_##name(const T* x, const T* weight, T* y, int rows,        \
                                                                                int columns, float epsilon) {                      \
        rms_norm<T, threads>(x, weight, y, rows, columns, epsilon);                                                                 \
    }                                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) softmax_warp_##name(const T* x, T* y, int rows, int columns) {            \
        softmax<T, 32>(x, y, rows, columns);                                                                                        \
    }                                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) softmax_block_##name(const T* x, T* y, int rows, int columns) {           \
        softmax<T, threads>(x, y, rows, columns);                                                                                   \
    }                                                                                                                               \
    extern "C" __global__ void __launch_bounds__(threads) bias_gelu_add_##name(const T* x, const T* bias, const T* residual, T* y,  \
                                                                               int rows, int columns) {                            \
        fused<T>(x, bias, residual, y, rows, columns);                                                                              \
    }
ROWS(float, f32)
ROWS(f16, f16)
ROWS(bf16, bf16)
