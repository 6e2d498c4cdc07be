// fails: global_read_sectors
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    int row = blockIdx.x * 32 + threadIdx.x, total = 0;
    for (int k = 0; k < columns; ++k) total += atomicAdd(const_cast<int *>(matrix) + row * columns + k, 0);
    sum[row] = total;
}
