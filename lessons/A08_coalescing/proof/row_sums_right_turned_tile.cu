// A tile of 32 x 32 is read by rows and added up by columns, out of shared memory.
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    __shared__ int tile[32][33];
    int t = threadIdx.x, total = 0;
    for (int left = 0; left < columns; left += 32) {
        for (int r = 0; r < 32; ++r) tile[r][t] = matrix[(blockIdx.x * 32 + r) * columns + left + t];
        __syncthreads();
        for (int k = 0; k < 32; ++k) total += tile[t][k];
        __syncthreads();
    }
    sum[blockIdx.x * 32 + t] = total;
}
