// Four words of A and of B at a time, for sixteen products.
__global__ void four_each(const float *a, const float *b, float *c, int n) {
    __shared__ __align__(16) float ta[32][32], tb[32][32];
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
        for (int i = 0; i < 32; i += 4) {
            float w0 = tb[i][x], w1 = tb[i + 1][x], w2 = tb[i + 2][x], w3 = tb[i + 3][x];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                float4 v = *reinterpret_cast<const float4 *>(&ta[y + r][i]);
                sum[r] += v.x * w0;
                sum[r] += v.y * w1;
                sum[r] += v.z * w2;
                sum[r] += v.w * w3;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) c[(top + y + r) * n + left + x] = sum[r];
}
