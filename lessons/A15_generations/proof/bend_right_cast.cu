extern "C" __global__ void bend(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) {
        float v = x[i], t = v * v, p = float(0.1333) - t * float(0.054);
        p = float(-0.3333) + t * p;
        p = 1.0f + t * p;
        y[i] = v * (float(0.5) + float(0.25) * p);
    }
}
