extern "C" __global__ void passes(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) {
        float sum = 0.5f * y[i] + x[i];
        y[i] = sum * sum;
    }
}
