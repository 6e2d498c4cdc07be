// One warp waits for another warp's volatile flag in shared memory, behind a fence.
// run: --grid 1 --block 64 --arg in:i32[32] --arg out:i32[32] --check all
// quiet
__global__ void relay(const int *in, int *out) {
    __shared__ volatile int held[32];
    __shared__ volatile int ready;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        held[lane] = in[lane];
        __threadfence_block();
        __syncwarp();
        if (lane == 0) ready = 1;
    } else {
        while (ready == 0) {
        }
        __syncwarp();
        out[lane] = held[31 - lane];
    }
}
