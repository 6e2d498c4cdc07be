// A thread makes 8 x 8 elements, a block 128 x 128.
__global__ void square_tile(const float *a, const float *b, float *c, int n, int depth) {
    __shared__ float ta[128][8], tb[8][128];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, t = threadIdx.x;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    float sum[8][8] = {};
    for (int k = 0; k < depth; k += 8) {
#pragma unroll
        for (int i = 0; i < 128; i += 32) ta[t / 8 + i][t % 8] = a[(top + t / 8 + i) * depth + k + t % 8];
#pragma unroll
        for (int i = 0; i < 8; i += 2) tb[t / 128 + i][t % 128] = b[(k + t / 128 + i) * n + left + t % 128];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float of_a[8], of_b[8];
#pragma unroll
            for (int r = 0; r < 8; ++r) of_a[r] = ta[y * 8 + r][i];
#pragma unroll
            for (int q = 0; q < 8; ++q) of_b[q] = tb[i][x * 8 + q];
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int q = 0; q < 8; ++q) sum[r][q] += of_a[r] * of_b[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int q = 0; q < 8; ++q) c[(top + y * 8 + r) * n + left + x * 8 + q] = sum[r][q];
}
