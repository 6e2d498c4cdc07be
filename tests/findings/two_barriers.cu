// One warp waits at a barrier inside an if, and the others at the barrier behind it: the two are taken for one.
// run: --grid 1 --block 128 --arg inout:f32[128]
// says: warning: synccheck: two barriers are taken for one: 32 threads wait at the barrier on line 10, and 96 threads
// says: turned away on line 8, went past it to the barrier on line 14
__global__ void mixed(float *x) {
    __shared__ float held[128];
    int t = threadIdx.x;
    if (t < 32) {
        held[t] = x[t];
        __syncthreads();
        held[t] *= 2;
    }
    x[t] += 1;
    __syncthreads();
    x[t] += t < 32 ? held[t] : 0;
}
