// Copies to shared memory that run ahead by one tile, waited for and met before they are read.
// arch: sm_80
// run: --gpu a100 --grid 2 --block 64 --arg in:f32[512] --arg out:f32[128] --check all
// quiet
#include <cuda_pipeline.h>
__global__ void sums(const float *in, float *out) {
    __shared__ float held[2][64];
    int t = threadIdx.x;
    const float *from = in + blockIdx.x * 256;
    __pipeline_memcpy_async(&held[0][t], from + t, 4);
    __pipeline_commit();
    float sum = 0;
    for (int tile = 0; tile < 4; ++tile) {
        if (tile < 3) __pipeline_memcpy_async(&held[(tile + 1) % 2][t], from + (tile + 1) * 64 + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += held[tile % 2][63 - t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}
