// fails: cycles
__global__ void axpy(float a, const float *x, float *y, int n) {
    if (blockIdx.x + threadIdx.x) return;
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
