// fails: races
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    __shared__ int part[32];
    for (int r = 0; r < 32; ++r) {
        int row = blockIdx.x * 32 + r, own = 0, total = 0;
        for (int k = threadIdx.x; k < columns; k += 32) own += matrix[row * columns + k];
        part[threadIdx.x] = own;
        if (threadIdx.x > 0) continue;
        for (int k = 0; k < 32; ++k) total += part[k];
        sum[row] = total;
    }
}
