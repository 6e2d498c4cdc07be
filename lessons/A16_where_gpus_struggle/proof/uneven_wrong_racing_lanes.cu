// fails: outputs
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    __shared__ float sum[8];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (row >= rows) return;
    if (lane == 0) sum[warp] = 0;
    __syncwarp();
    float own = 0;
    for (int e = start[row] + lane; e < start[row + 1]; e += 32) own += value[e] * x[column[e]];
    sum[warp] += own;
    __syncwarp();
    if (lane == 0) y[row] = sum[warp];
}
