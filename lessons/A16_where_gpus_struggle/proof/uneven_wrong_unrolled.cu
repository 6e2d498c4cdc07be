// fails: global_reads
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = start[row + 1];
    float sum = 0;
#pragma unroll 8
    for (int e = start[row]; e < end; ++e) sum += value[e] * x[column[e]];
    y[row] = sum;
}
