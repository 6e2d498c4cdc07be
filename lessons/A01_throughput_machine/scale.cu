// y = 2 x + 1. Launched with many blocks, yet all the work is done by one thread of the first one.
__global__ void scale(const float *x, float *y, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; ++i) y[i] = 2.0f * x[i] + 1.0f;
    }
}
