// Rows of entries: row r has start[r] to start[r + 1] - 1.
__global__ void uneven(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int e = start[row]; e < start[row + 1]; ++e) {
        sum += value[e] * x[column[e]];
    }
    y[row] = sum;
}
