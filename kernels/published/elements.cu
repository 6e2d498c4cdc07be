// Elementwise kernels with one, two, four or eight elements a thread: sums, products, copies, and enlarging a picture. Grid (n / elements a block), block 256
#include <cuda_fp16.h>

extern "C" __global__ void add_1(const float* a, const float* b, float* c) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    c[i] = a[i] + b[i];
}
extern "C" __global__ void add_2(const float2* a, const float2* b, float2* c) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    const float2 x = a[i], y = b[i];
    c[i] = make_float2(x.x + y.x, x.y + y.y);
}
extern "C" __global__ void add_4(const float4* a, const float4* b, float4* c) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    const float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

extern "C" __global__ void multiply_f32(const float* a, const float* b, float* c) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    c[i] = a[i] * b[i];
}
extern "C" __global__ void multiply_f16(const half* a, const half* b, half* c) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    c[i] = a[i] * b[i];
}
// Packs of 16 bytes, over which the grid goes in strides.
extern "C" __global__ __launch_bounds__(256) void multiply_packs_f32(const float4* a, const float4* b, float4* c, long long packs) {
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < packs; i += blockDim.x * gridDim.x) {
        const float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
    }
}
extern "C" __global__ __launch_bounds__(256) void multiply_packs_f16(const uint4* a, const uint4* b, uint4* c, long long packs) {
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < packs; i += blockDim.x * gridDim.x) {
        uint4 x = a[i], y = b[i], z;
        half2 *const u = reinterpret_cast<half2*>(&x), *const v = reinterpret_cast<half2*>(&y), *const w = reinterpret_cast<half2*>(&z);
#pragma unroll
        for (int j = 0; j < 4; ++j) w[j] = __hmul2(u[j], v[j]);
        c[i] = z;
    }
}

// A copy by vectors of T behind a check of what is left. n in floats.
template <class T> __device__ void copy(const float* from, float* to, size_t n) {
    constexpr int size = sizeof(T) / 4;
    const unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * size;
    if (n - at < size)
        for (size_t i = at; i < n; ++i) to[i] = from[i];
    else
        *reinterpret_cast<T*>(to + at) = *reinterpret_cast<const T*>(from + at);
}
struct alignas(16) Eight { float4 low, high; };
extern "C" __global__ void copy_1(const float* from, float* to, size_t n) { copy<float>(from, to, n); }
extern "C" __global__ void copy_2(const float* from, float* to, size_t n) { copy<float2>(from, to, n); }
extern "C" __global__ void copy_4(const float* from, float* to, size_t n) { copy<float4>(from, to, n); }
extern "C" __global__ void copy_8(const float* from, float* to, size_t n) { copy<Eight>(from, to, n); }

// Each pixel becomes four, two of them in one store; and the sum of four pixels.
extern "C" __global__ void enlarge_twice(int n, const float* from, int height, int width, float2* to) {
    const int size = width * height;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x; i < n; i += step) {
        const float value = from[i];
        const int picture = i / size, within = i - picture * size, row = within / width, column = within - row * width;
        to[picture * size * 2 + row * 2 * width + column] = make_float2(value, value);
        to[picture * size * 2 + (row * 2 + 1) * width + column] = make_float2(value, value);
    }
}
extern "C" __global__ void gather_four(int n, const float2* from, int height, int width, float* to) {
    const int size = width * height;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x; i < n; i += step) {
        const int picture = i / size, within = i - picture * size, row = within / width, column = within - row * width;
        const float2 upper = from[picture * size * 2 + row * 2 * width + column];
        const float2 lower = from[picture * size * 2 + (row * 2 + 1) * width + column];
        to[i] = upper.x + upper.y + lower.x + lower.y;
    }
}
