#include <mma.h>
using namespace nvcuda;

// Two FP32 sums take turns, and are added at the end.
__global__ void long_sum(const half *a, const half *b, float *d, int depth) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, other;
    wmma::fill_fragment(sum, 0.0f);
    wmma::fill_fragment(other, 0.0f);
    for (int k = 0; k < depth; k += 32) {
        wmma::load_matrix_sync(fa, a + k, depth);
        wmma::load_matrix_sync(fb, b + k * 16, 16);
        wmma::mma_sync(sum, fa, fb, sum);
        if (k + 16 == depth) break;
        wmma::load_matrix_sync(fa, a + k + 16, depth);
        wmma::load_matrix_sync(fb, b + (k + 16) * 16, 16);
        wmma::mma_sync(other, fa, fb, other);
    }
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] += other.x[i];
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
