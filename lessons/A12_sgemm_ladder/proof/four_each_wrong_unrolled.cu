// fails: shared_read_bytes
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
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            for (int i = 0; i < 32; ++i) sum[r] += ta[y + r][i] * tb[i][x];
            __syncwarp();
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) c[(top + y + r) * n + left + x] = sum[r];
}
