// fails: global_read_sectors
extern "C" __global__ void passes(const float *x, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) y[i] = 0.5f * y[i] + x[i];
    for (int i = first; i < n; i += threads) y[i] = y[i] * y[i];
}
