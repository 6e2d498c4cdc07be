#include <cuda_fp16.h>

// C = A B, n x n, FP16 in and FP32 out; n is a multiple of 16. Each block has one warp and computes a 16 x 16 tile, eight
// elements a lane, on the FP32 lanes. Grid (n/16, n/16), block 32.
__global__ void matmul(const half *a, const half *b, float *c, int n) {
    int row = blockIdx.y * 16 + threadIdx.x / 2, left = blockIdx.x * 16 + threadIdx.x % 2 * 8;
    float sum[8] = {};
    for (int k = 0; k < n; ++k) {
        float x = __half2float(a[row * n + k]);
#pragma unroll
        for (int e = 0; e < 8; ++e) sum[e] += x * __half2float(b[k * n + left + e]);
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) c[row * n + left + e] = sum[e];
}
