#include <mma.h>
using namespace nvcuda;

// A round adds 16 times 1 x 1/16 to every element: just one.
template <class Sum>
__device__ void count(Sum *d, int rounds) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> c;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(0.0625f));
    wmma::fill_fragment(c, Sum(0.0f));
    for (int i = 0; i < rounds; ++i)
        wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(d, c, 16, wmma::mem_row_major);
}
extern "C" __global__ void count_f16(half *d, int rounds) { count(d, rounds); }
extern "C" __global__ void count_f32(float *d, int rounds) { count(d, rounds); }
