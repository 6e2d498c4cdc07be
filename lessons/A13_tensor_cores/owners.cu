#include <mma.h>
using namespace nvcuda;

// Each lane puts its number into all elements it holds.
__global__ void owners(int *held, float *owner) {
    int lane = threadIdx.x;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
    for (int e = 0; e < f.num_elements; ++e) f.x[e] = lane;
    held[lane] = f.num_elements;
    wmma::store_matrix_sync(owner, f, 16, wmma::mem_row_major);
}
