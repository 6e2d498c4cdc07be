// The simple product of tiles of halves, summed up in single precision: tensor cores would do it.
// run timed: --gpu v100 --grid 10,16 --block 16,16 --arg in:f16[40960] --arg in:f16[25600] --arg out:f32[40960] --arg i32:160 --what-if none
// says: half_tiles.cu:17: This looks like a product of matrices in FP16, and the tensor cores
// never: Conversions
#include <cuda_fp16.h>
__global__ void half_tiles(const half *a, const half *b, float *c, int n) {
    __shared__ half left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float x = __half2float(left[threadIdx.y][k]);
            float y = __half2float(right[k][threadIdx.x]);
            sum += x * y;
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}
