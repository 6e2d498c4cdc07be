// fails: outputs
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    if (start[row] + lane < start[row + 1]) sum = value[start[row] + lane] * x[column[start[row] + lane]];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    if (lane == 0) y[row] = sum;
}
