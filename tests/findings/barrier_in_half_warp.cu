// A barrier that half of each warp comes to, while the other half goes on to the next one.
// run: --grid 1 --block 64 --arg inout:f32[64]
// exit: 1
// says: synccheck: a barrier in divergent code: only 16 of the warp's 32 threads are here
// says: They turned away on line 11: move the barrier out of the condition
__global__ void half(float *x) {
    __shared__ float held[64];
    int t = threadIdx.x;
    held[t] = x[t];
    __syncthreads();
    if (t % 32 < 16) {
        held[t] += 1;
        __syncthreads();
    }
    held[t] *= 2;
    __syncthreads();
    x[t] = held[63 - t];
}
