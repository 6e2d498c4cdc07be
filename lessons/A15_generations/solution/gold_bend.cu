// Floats alone, and four elements of a thread under way at once: nobody waits for one before asking for the next.
extern "C" __global__ void bend(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += 4 * threads) {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (i + k * threads < n) v[k] = x[i + k * threads];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float t = v[k] * v[k], p = 1 + t * (-0.3333f + t * (0.1333f - t * 0.054f));
            if (i + k * threads < n) y[i + k * threads] = v[k] * (0.5f + 0.25f * p);
        }
    }
}
