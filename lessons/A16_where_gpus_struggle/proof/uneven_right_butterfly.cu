// A warp a row; all lanes end with the sum.
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    int begin = start[row], end = start[row + 1];
    float sum = 0;
    for (int e = begin + lane; e < end; e += 32) sum = fmaf(value[e], x[column[e]], sum);
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (lane == 0) y[row] = sum;
}
