// Each thread doubles one element, but only blocks of 12 threads find theirs.
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * 12 + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}
