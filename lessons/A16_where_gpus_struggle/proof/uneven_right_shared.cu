// A warp a row; the 32 partial sums meet in shared memory.
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    __shared__ float part[256];
    int t = threadIdx.x, row = (blockIdx.x * 256 + t) / 32, lane = t % 32;
    float sum = 0;
    if (row < rows)
        for (int e = start[row] + lane; e < start[row + 1]; e += 32) sum += value[e] * x[column[e]];
    for (int half = 16; half > 0; half /= 2) {
        part[t] = sum;
        __syncwarp();
        if (lane < half) sum += part[t + half];
        __syncwarp();
    }
    if (lane == 0 && row < rows) y[row] = sum;
}
