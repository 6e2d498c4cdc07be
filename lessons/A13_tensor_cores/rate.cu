#include <mma.h>
using namespace nvcuda;

// 64 products a warp, each onto the sum of the one before.
__global__ void chained(float *out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(0.5f));
    wmma::fill_fragment(c, 0.0f);
#pragma unroll 16
    for (int i = 0; i < 64; ++i)
        wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 256, c, 16, wmma::mem_row_major);
}

// The same 64 products as two chains of 32.
__global__ void two_chains(float *out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2];
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(0.5f));
    wmma::fill_fragment(c[0], 0.0f);
    wmma::fill_fragment(c[1], 0.0f);
#pragma unroll 16
    for (int i = 0; i < 32; ++i) {
        wmma::mma_sync(c[0], a, b, c[0]);
        wmma::mma_sync(c[1], a, b, c[1]);
    }
    for (int e = 0; e < c[0].num_elements; ++e) c[0].x[e] += c[1].x[e];
    wmma::store_matrix_sync(out + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 256, c[0], 16, wmma::mem_row_major);
}
