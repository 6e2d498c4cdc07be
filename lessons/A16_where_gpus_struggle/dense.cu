// y = A x. A warp takes a row; its lanes add up at the end.
__global__ void dense(const float *a, const float *x, float *y, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) {
        float value = a[row * columns + c];
        sum += value * x[c];
    }
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    if (lane == 0) y[row] = sum;
}
