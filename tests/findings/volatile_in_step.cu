// The old volatile reduction made right: a __syncwarp() behind every read and every write.
// run: --grid 1 --block 32 --arg in:f32[64] --arg out:f32[1] --check all
// quiet
__device__ void step(volatile float *held, int t, int far) {
    float v = held[t] + held[t + far];
    __syncwarp();
    held[t] = v;
    __syncwarp();
}
__global__ void total(const float *in, float *out) {
    __shared__ volatile float held[64];
    int t = threadIdx.x;
    held[t] = in[t];
    held[t + 32] = in[t + 32];
    __syncwarp();
    step(held, t, 32);
    step(held, t, 16);
    step(held, t, 8);
    step(held, t, 4);
    step(held, t, 2);
    step(held, t, 1);
    if (t == 0) *out = held[0];
}
