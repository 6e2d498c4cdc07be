// Atomics: a dot product into one half or one pair of halves, and histograms of bytes in global and in shared memory
#include <cuda_fp16.h>

// Each thread adds its products (one here) to the same word. Grid (n / 256), block 256. arch of the half atomic: 7.0.
extern "C" __global__ void dot_half(const half* a, const half* b, half* c, int n) {
    half sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = sum + a[i] * b[i];
    atomicAdd(c, sum);
}
extern "C" __global__ void dot_half_pair(const half* a, const half* b, half2* c, int n) {
    half sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = sum + a[i] * b[i];
    half2 pair;
    pair.x = sum;
    pair.y = __float2half_rz(0);
    atomicAdd(c, pair);
}

// 256 bins of bytes, the grid in strides. Block 512.
extern "C" __global__ void histogram_global(const unsigned char* __restrict__ data, int n, int* __restrict__ bins) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 1);
}
__device__ void clear(int* own) {
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
}
__device__ void add_all(const int* own, int* bins) {
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (own[bin] > 0) atomicAdd(&bins[bin], own[bin]);
}
extern "C" __global__ void histogram_shared(const unsigned char* __restrict__ data, int n, int* __restrict__ bins) {
    __shared__ int own[256];
    clear(own);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[data[i]], 1);
    add_all(own, bins);
}
extern "C" __global__ void histogram_shared_packs(const unsigned char* __restrict__ data, int n, int* __restrict__ bins) {
    __shared__ int own[256];
    clear(own);
    const uint4* const packs = reinterpret_cast<const uint4*>(data);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) {
        const uint4 pack = packs[i];
        const unsigned words[4] = {pack.x, pack.y, pack.z, pack.w};
#pragma unroll
        for (int j = 0; j < 16; ++j) atomicAdd(&own[words[j / 4] >> j % 4 * 8 & 255], 1);
    }
    add_all(own, bins);
}
