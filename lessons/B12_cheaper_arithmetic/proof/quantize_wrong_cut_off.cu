// fails: outputs
extern "C" __global__ void quantize(const float *w, float *q, float *scale, int n) {
    __shared__ float largest[64];
    float mine = 0.0f;
    for (int i = threadIdx.x; i < n; i += 64) mine = fmaxf(mine, fabsf(w[i]));
    largest[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
        __syncthreads();
    }
    float step = largest[0] > 0.0f ? largest[0] / 127.0f : 1.0f;
    for (int i = threadIdx.x; i < n; i += 64) q[i] = truncf(w[i] / step);
    if (threadIdx.x == 0) scale[0] = step;
}
