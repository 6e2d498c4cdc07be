// A barrier inside an if: the threads that do not take it end without it. CUDA asks all of the block to come.
// run: --grid 1 --block 64 --arg inout:f32[64] --arg i32:40 --check all
// run: --grid 1 --block 64 --arg inout:f32[64] --arg i32:40
// says: warning: synccheck: only 40 of the block's 64 threads come to the barrier on line 12
// says: it stands inside the `if` on line 10: 24 threads, thread (40,0,0) first, went past it and ended
// says: Move the __syncthreads() out of the `if`
__global__ void turn_round(float *x, int n) {
    __shared__ float held[64];
    int t = threadIdx.x;
    if (t < n) {
        held[t] = x[t];
        __syncthreads();
        x[t] = held[n - 1 - t];
    }
}
