// A reduction in the last warp that keeps its lanes together by __syncwarp(), between reading and writing too.
// run: --grid 1 --block 64 --arg in:f32[64] --arg out:f32[1] --check all
// quiet
__global__ void total(const float *in, float *out) {
    __shared__ float held[64];
    int t = threadIdx.x;
    held[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float v = held[t];
        for (int half = 32; half > 0; half /= 2) {
            v += held[t + half < 64 ? t + half : t];
            __syncwarp();
            held[t] = v;
            __syncwarp();
        }
    }
    if (t == 0) *out = held[0];
}
