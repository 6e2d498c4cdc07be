#include <mma.h>
using namespace nvcuda;

// One warp: D = A B, with A 16 x 48 and B 48 x 16.
__global__ void tensor(const half *a, const half *b, float *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < 48; k += 16) {
        wmma::load_matrix_sync(fa, a + k, 48);
        wmma::load_matrix_sync(fb, b + k * 16, 16);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
