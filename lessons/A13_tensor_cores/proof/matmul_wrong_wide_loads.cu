// fails: flop_tensor
#include <cuda_fp16.h>

__global__ void matmul(const half *a, const half *b, float *c, int n) {
    int row = blockIdx.y * 16 + threadIdx.x / 2, left = blockIdx.x * 16 + threadIdx.x % 2 * 8;
    float sum[8] = {};
    for (int k = 0; k < n; ++k) {
        float x = __half2float(a[row * n + k]);
        int4 words = *reinterpret_cast<const int4 *>(&b[k * n + left]);
        const half2 *pairs = reinterpret_cast<const half2 *>(&words);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float2 v = __half22float2(pairs[e]);
            sum[2 * e] += x * v.x;
            sum[2 * e + 1] += x * v.y;
        }
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) c[row * n + left + e] = sum[e];
}
