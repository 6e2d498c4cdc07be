// fails: outputs
#include <mma.h>
using namespace nvcuda;

__global__ void long_sum(const half *a, const half *b, float *d, int depth) {
    __shared__ __align__(32) half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
    float all[8] = {};
    for (int first = 0; first < depth; first += 256) {
        wmma::fill_fragment(sum, __float2half(0.0f));
        for (int k = first; k < min(first + 256, depth); k += 16) {
            wmma::load_matrix_sync(fa, a + k, depth);
            wmma::load_matrix_sync(fb, b + k * 16, 16);
            wmma::mma_sync(sum, fa, fb, sum);
        }
        wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
        __syncwarp();
        for (int i = 0; i < 8; ++i) all[i] += __half2float(tile[threadIdx.x + 32 * i]);
        __syncwarp();
    }
    for (int i = 0; i < 8; ++i) d[threadIdx.x + 32 * i] = all[i];
}
