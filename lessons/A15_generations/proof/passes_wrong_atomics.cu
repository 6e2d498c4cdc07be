// fails: global_read_sectors
extern "C" __global__ void passes(const float *x, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) atomicExch(&y[i], 0.5f * atomicAdd(&y[i], 0.0f));
    for (int i = first; i < n; i += threads) atomicAdd(&y[i], atomicAdd(const_cast<float *>(x) + i, 0.0f));
    for (int i = first; i < n; i += threads) {
        float v = atomicAdd(&y[i], 0.0f);
        atomicExch(&y[i], v * v);
    }
}
