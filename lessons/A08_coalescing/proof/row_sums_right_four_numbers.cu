// Four numbers a load, then a butterfly.
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    for (int r = 0; r < 32; ++r) {
        int row = blockIdx.x * 32 + r, total = 0;
        for (int k = threadIdx.x; k < columns / 4; k += 32) {
            int4 v = reinterpret_cast<const int4 *>(matrix + row * columns)[k];
            total += v.x + v.y + v.z + v.w;
        }
        for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(0xffffffff, total, apart);
        if (threadIdx.x == 0) sum[row] = total;
    }
}
