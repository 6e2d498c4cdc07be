// A warp makes 64 x 64 elements, a lane 8 x 16 of them.
__global__ void warp_tile(const float *a, const float *b, float *c, int n, int depth) {
    __shared__ float4 ta[16][32], tb[16][32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int x = warp % 2 * 64 + lane % 4 * 4, y = warp / 2 * 64 + lane / 4 * 8;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    float sum[8][16] = {};
    for (int k = 0; k < depth; k += 16) {
#pragma unroll
        for (int i = 0; i < 128; i += 32) {
            float4 four = *(const float4 *)&a[(top + t / 4 + i) * depth + k + t % 4 * 4];
            ((float *)ta[t % 4 * 4 + 0])[t / 4 + i] = four.x;
            ((float *)ta[t % 4 * 4 + 1])[t / 4 + i] = four.y;
            ((float *)ta[t % 4 * 4 + 2])[t / 4 + i] = four.z;
            ((float *)ta[t % 4 * 4 + 3])[t / 4 + i] = four.w;
        }
#pragma unroll
        for (int i = 0; i < 16; i += 4) tb[t / 32 + i][t % 32] = *(const float4 *)&b[(k + t / 32 + i) * n + left + t % 32 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float4 a0 = ta[i][y / 4], a1 = ta[i][y / 4 + 1];
            float of_a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                float4 four = tb[i][(x + s * 16) / 4];
#pragma unroll
                for (int r = 0; r < 8; ++r) {
                    sum[r][s * 4 + 0] += of_a[r] * four.x;
                    sum[r][s * 4 + 1] += of_a[r] * four.y;
                    sum[r][s * 4 + 2] += of_a[r] * four.z;
                    sum[r][s * 4 + 3] += of_a[r] * four.w;
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s)
            *(float4 *)&c[(top + y + r) * n + left + x + s * 16] =
                make_float4(sum[r][s * 4], sum[r][s * 4 + 1], sum[r][s * 4 + 2], sum[r][s * 4 + 3]);
}
