// Both steps, but on what the caches still hold: a grid's width at a time, by the same thread.
__global__ void two_passes(const float *x, const float *z, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = first; i < n; i += 2 * step) {
        float a = 3.0f * x[i] + 1.0f, b = i + step < n ? 3.0f * x[i + step] + 1.0f : 0.0f;
        y[i] = a * z[i];
        if (i + step < n) y[i + step] = b * z[i + step];
    }
}
