// A butterfly in each of the two warps.
extern "C" __global__ void quantize(const float *w, float *q, float *scale, int n) {
    __shared__ float largest[2];
    float mine = 0.0f;
    for (int i = threadIdx.x; i < n; i += 64) mine = fmaxf(mine, fabsf(w[i]));
    for (int apart = 16; apart > 0; apart /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, apart));
    if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = mine;
    __syncthreads();
    float step = fmaxf(largest[0], largest[1]) / 127.0f;
    if (step == 0.0f) step = 1.0f;
    for (int i = threadIdx.x; i < n; i += 64) q[i] = rintf(w[i] / step);
    if (threadIdx.x == 0) scale[0] = step;
}
