// What CUDA 13 removed and programs still use.
#include "check.h"

__global__ void old_warp(int* out, float* real) {
    int value = threadIdx.x;
    for (int by = 16; by > 0; by /= 2) value += __shfl_down(value, by);
    value = __shfl(value, 0);
    out[threadIdx.x] = value + __popc(__ballot(threadIdx.x < 5)) + 1000 * __any(threadIdx.x == 3) + 10000 * __all(threadIdx.x < 32);
    real[threadIdx.x] = __shfl_xor(static_cast<float>(threadIdx.x), 1) + __shfl_up(1.0f, 1);
}

int main() {
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(count >= 1);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    struct cudaDeviceProp again = {};
    CHECK(cudaGetDeviceProperties(&again, 0));
    EXPECT(properties.clockRate > 100000 && properties.memoryClockRate > 100000 && again.clockRate == properties.clockRate);
    EXPECT(properties.computeMode == cudaComputeModeDefault && !properties.kernelExecTimeoutEnabled);
    EXPECT(properties.warpSize == 32 && properties.multiProcessorCount > 0 && properties.name[0]);
    int device = -1;
    CHECK(cudaChooseDevice(&device, &properties));
    EXPECT(device == 0);
    int *d, h[32];
    float *d_real, real[32];
    CHECK(cudaMalloc(&d, sizeof h));
    CHECK(cudaMalloc(&d_real, sizeof real));
    old_warp<<<1, 32>>>(d, d_real);
    CHECK(cudaThreadSynchronize());
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(real, d_real, sizeof real, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(h[i] == 496 + 5 + 1000 + 10000 && real[i] == (i ^ 1) + 1.0f);
    int* managed;
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMemPrefetchAsync(managed, 4096, 0, 0));
    CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, 0));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(d));
    CHECK(cudaFree(d_real));
    CHECK(cudaThreadExit());
    return pass();
}
