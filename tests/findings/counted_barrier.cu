// An mbarrier in shared memory: all threads arrive, and each waits for the phase to end.
// arch: sm_80
// run: --gpu a100 --grid 2 --block 64 --arg in:f32[128] --arg out:f32[128] --check all
// quiet
#include <cuda_awbarrier_primitives.h>
__global__ void mirror(const float *in, float *out) {
    __shared__ float held[64];
    __shared__ __mbarrier_t all;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) __mbarrier_init(&all, 64);
    __syncthreads();
    held[t] = in[i];
    __mbarrier_token_t mine = __mbarrier_arrive(&all);
    while (!__mbarrier_test_wait(&all, mine)) {
    }
    out[i] = held[63 - t];
}
