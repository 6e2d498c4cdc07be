// fails: outputs
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    for (int r = 0; r < 32; ++r) {
        int total = matrix[(blockIdx.x * 32 + r) * columns + threadIdx.x];
        for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(0xffffffff, total, apart);
        if (threadIdx.x == 0) sum[blockIdx.x * 32 + r] = total;
    }
}
