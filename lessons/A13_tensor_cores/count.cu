#include <mma.h>
using namespace nvcuda;

// A round adds one to every element: of its 16 products one is 1 x 1, the others are 0 x 1. So it does not matter in which
// groups a tensor core adds them.
template <class Sum>
__device__ void count(Sum *d, int rounds) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> c;
    __shared__ half first_column[256];
    for (int i = threadIdx.x; i < 256; i += 32)
        first_column[i] = __float2half(i % 16 == 0 ? 1.0f : 0.0f);
    __syncwarp();
    wmma::load_matrix_sync(a, first_column, 16);
    wmma::fill_fragment(b, __float2half(1.0f));
    wmma::fill_fragment(c, Sum(0.0f));
    for (int i = 0; i < rounds; ++i)
        wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(d, c, 16, wmma::mem_row_major);
}
extern "C" __global__ void count_f16(half *d, int rounds) { count(d, rounds); }
extern "C" __global__ void count_f32(float *d, int rounds) { count(d, rounds); }
