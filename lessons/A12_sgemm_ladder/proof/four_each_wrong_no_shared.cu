// fails: global_reads
__global__ void four_each(const float *a, const float *b, float *c, int n) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y * 4;
    float sum[4] = {};
    for (int k = 0; k < n; ++k) {
        float word = b[k * n + column];
        for (int r = 0; r < 4; ++r) sum[r] += a[(row + r) * n + k] * word;
    }
    for (int r = 0; r < 4; ++r) c[(row + r) * n + column] = sum[r];
}
