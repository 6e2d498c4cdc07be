// Threads past the end return at once, and the others go on from barrier to barrier without them.
// run: --grid 2 --block 96 --arg in:f32[150] --arg out:f32[150] --arg i32:150 --check all
// quiet
__global__ void neighbours(const float *in, float *out, int n) {
    __shared__ float held[96];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i >= n)
        return;
    held[t] = in[i];
    for (int round = 0; round < 3; ++round) {
        __syncthreads();
        float mine = held[t], other = t > 0 ? held[t - 1] : 0;
        __syncthreads();
        held[t] = mine + other;
    }
    out[i] = held[t];
}
