// A's tile is read four words at a time, one request for four steps of the sum; B's word still serves four rows.
__global__ void four_each(const float *a, const float *b, float *c, int n) {
    __shared__ __align__(16) float ta[32][32];
    __shared__ float tb[32][32];
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
        for (int i = 0; i < 32; i += 4) {
            float word[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) word[s] = tb[i + s][x];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                float4 row = *reinterpret_cast<const float4 *>(&ta[y + r][i]);
                sum[r] += row.x * word[0];
                sum[r] += row.y * word[1];
                sum[r] += row.z * word[2];
                sum[r] += row.w * word[3];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) c[(top + y + r) * n + left + x] = sum[r];
}
