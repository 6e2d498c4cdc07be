// The whole warp walks along one row after the other; a butterfly of shuffles adds the 32 partial sums.
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    int mine = 0;
    for (int r = 0; r < 32; ++r) {
        const int *row = matrix + (blockIdx.x * 32 + r) * columns;
        int total = 0;
        for (int k = threadIdx.x; k < columns; k += 32) total += row[k];
        for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(0xffffffff, total, apart);
        if (threadIdx.x == r) mine = total;
    }
    sum[blockIdx.x * 32 + threadIdx.x] = mine;
}
