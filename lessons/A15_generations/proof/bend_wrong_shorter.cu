// fails: outputs
extern "C" __global__ void bend(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) y[i] = x[i] * 0.75f;
}
