// All copies take 16 bytes a lane. A is transposed in ta.
__global__ void vectorised(const float *a, const float *b, float *c, int n, int depth) {
    __shared__ float4 ta[8][32], tb[8][32];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, t = threadIdx.x;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    float sum[8][8] = {};
    for (int k = 0; k < depth; k += 8) {
        float4 four = *(const float4 *)&a[(top + t / 2) * depth + k + t % 2 * 4];
        ((float *)ta[t % 2 * 4 + 0])[t / 2] = four.x;
        ((float *)ta[t % 2 * 4 + 1])[t / 2] = four.y;
        ((float *)ta[t % 2 * 4 + 2])[t / 2] = four.z;
        ((float *)ta[t % 2 * 4 + 3])[t / 2] = four.w;
        tb[t / 32][t % 32] = *(const float4 *)&b[(k + t / 32) * n + left + t % 32 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float4 a0 = ta[i][y * 2], a1 = ta[i][y * 2 + 1];
            float4 b0 = tb[i][x * 2], b1 = tb[i][x * 2 + 1];
            float of_a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float of_b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
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
        for (int q = 0; q < 8; q += 4)
            *(float4 *)&c[(top + y * 8 + r) * n + left + x * 8 + q] =
                make_float4(sum[r][q], sum[r][q + 1], sum[r][q + 2], sum[r][q + 3]);
}
