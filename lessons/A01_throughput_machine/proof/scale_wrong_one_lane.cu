// fails: executed_lanes_per_issue
__global__ void scale(const float *x, float *y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    if (t % 32) return;
    for (int i = t / 32; i < n; i += threads / 32) y[i] = 2.0f * x[i] + 1.0f;
}
