#include <mma.h>
using namespace nvcuda;

// One warp: D = A B with A 16 x depth and B depth x 16, FP16 in. The sums are FP16 too, and D is FP32.
__global__ void long_sum(const half *a, const half *b, float *d, int depth) {
    __shared__ __align__(32) half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
    wmma::fill_fragment(sum, __float2half(0.0f));
    for (int k = 0; k < depth; k += 16) {
        wmma::load_matrix_sync(fa, a + k, depth);
        wmma::load_matrix_sync(fb, b + k * 16, 16);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) d[i] = __half2float(tile[i]);
}
