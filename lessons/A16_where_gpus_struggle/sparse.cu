// Only the `kept` entries of a row, each with its column.
__global__ void sparse(const int *column, const float *value, const float *x, float *y, int kept) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int e = lane; e < kept; e += 32) {
        int c = column[row * kept + e];
        float v = value[row * kept + e];
        sum += v * x[c];
    }
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    if (lane == 0) y[row] = sum;
}
