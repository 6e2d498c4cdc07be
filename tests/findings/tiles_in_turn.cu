// Two tiles and a pointer that goes from one to the other; a row of one is read from behind.
// run: --grid 2 --block 32 --arg in:f32[64] --arg out:f32[64] --check all
// quiet
__global__ void in_turn(const float *in, float *out) {
    __shared__ float even[32], odd[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    even[t] = in[i];
    float *from = even, *to = odd;
    for (int round = 0; round < 4; ++round) {
        __syncthreads();
        to[t] = from[31 - t] + from[t];
        float *const last = from;
        from = to;
        to = last;
    }
    __syncthreads();
    out[i] = from[t] + (t > 0 ? even[t - 1] : 0);
}
