// An early return and the barrier behind it on one line.
// run: --grid 2 --block 96 --arg in:f32[150] --arg out:f32[150] --arg i32:150 --check all
// quiet
__global__ void turn_round(const float *in, float *out, int n) {
    __shared__ float held[96];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    held[t] = i < n ? in[i] : 0;
    if (i >= n) return; __syncthreads();
    out[i] = held[0] + held[t];
}
