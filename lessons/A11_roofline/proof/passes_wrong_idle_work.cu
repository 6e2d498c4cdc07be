// fails: dram_bytes
__global__ void two_passes(const float *x, const float *z, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += step) y[i] = 3.0f * x[i] + 1.0f;
    for (int i = first; i < n; i += step) {
        float v = y[i] * z[i];
        for (int k = 0; k < 40; ++k) v = __fmul_rn(v, 1.0f);
        y[i] = v;
    }
}
