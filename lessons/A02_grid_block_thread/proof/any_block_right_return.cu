// Threads to spare go home first.
__global__ void twice(const float *x, float *y, int n) {
    const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] + x[i];
}
