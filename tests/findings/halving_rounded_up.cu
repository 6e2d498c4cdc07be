// The same, rounded up: nothing is left out. The unguarded steps of the last warp make sums that nobody needs.
// run: --grid 2 --block 192 --arg in:f32[384] --arg out:f32[4] --check all
// quiet
__global__ void sums(const float *x, float *out) {
    __shared__ float part[192], tile[194];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = x[i];
    tile[t + 1] = x[i] * 0.5f;
    if (t < 2) tile[t * 193] = x[i] + x[i + 1];
    __syncthreads();
    for (int n = blockDim.x; n > 3; n = (n + 1) / 2) {
        int half = (n + 1) / 2;
        if (t + half < n) part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        float others = part[t + 1] + part[t + 2];
        __syncwarp();
        part[t] += others;
    }
    if (t == 0) out[2 * blockIdx.x] = part[0];
    if (t == 1) out[2 * blockIdx.x + 1] = tile[2];
}
