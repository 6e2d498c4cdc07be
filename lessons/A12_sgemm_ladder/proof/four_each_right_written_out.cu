// The four sums are written out.
__global__ void four_each(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[32][32], tb[32][32];
    int x = threadIdx.x, y = threadIdx.y * 4;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum[4] = {};
    for (int k = 0; k < n; k += 32) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            ta[y + r][x] = a[(top + y + r) * n + k + x];
            tb[y + r][x] = b[(k + y + r) * n + left + x];
        }
        __syncthreads();
        for (int i = 0; i < 32; ++i) {
            const float word = tb[i][x];
            sum[0] = fmaf(ta[y][i], word, sum[0]);
            sum[1] = fmaf(ta[y + 1][i], word, sum[1]);
            sum[2] = fmaf(ta[y + 2][i], word, sum[2]);
            sum[3] = fmaf(ta[y + 3][i], word, sum[3]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) c[(top + y + r) * n + left + x] = sum[r];
}
