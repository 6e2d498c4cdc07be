// fails: cycles
#include <cuda_fp16.h>

__global__ void long_sum(const half *a, const half *b, float *d, int depth) {
    for (int i = threadIdx.x; i < 256; i += 32) {
        float sum = 0;
        for (int k = 0; k < depth; ++k) sum += __half2float(a[i / 16 * depth + k]) * __half2float(b[k * 16 + i % 16]);
        d[i] = sum;
    }
}
