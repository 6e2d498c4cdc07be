// fails: cycles
__global__ void scale(const float *x, float *y, int n) {
    if (blockIdx.x > 0) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2.0f * x[i] + 1.0f;
}
