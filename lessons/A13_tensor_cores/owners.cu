#include <mma.h>
using namespace nvcuda;

// Each lane puts its number into all elements it holds. The product adds nothing to them.
__global__ void owners(int *held, float *owner) {
    int lane = threadIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
    wmma::fill_fragment(a, __float2half(0));
    wmma::fill_fragment(b, __float2half(0));
    for (int e = 0; e < f.num_elements; ++e) f.x[e] = lane;
    wmma::mma_sync(f, a, b, f);
    held[lane] = f.num_elements;
    wmma::store_matrix_sync(owner, f, 16, wmma::mem_row_major);
}
