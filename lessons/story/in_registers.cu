// As before, but a thread blurs ten pixels of a column: it adds five neighbours of each of fourteen rows once, and keeps the
// sums in registers. Grid: a block a picture; block: 384, of whose 64 columns four rest.
__global__ void blur_in_registers(float *scores, int *best, const float *pixels, const float *weights) {
    __shared__ float tile[4096];
    __shared__ float part[12][10];
    int t = threadIdx.x, x = t % 64, top = t / 64 * 10;
    const float4 *from = reinterpret_cast<const float4 *>(pixels + blockIdx.x * 4096);
    for (int k = t; k < 1024; k += 384) reinterpret_cast<float4 *>(tile)[k] = from[k];
    __syncthreads();
    float sum[10] = {};
    if (x < 60) {
        float row[14];
#pragma unroll
        for (int y = 0; y < 14; ++y) {
            const float *at = tile + (top + y) * 64 + x;
            row[y] = at[0] + at[1] + at[2] + at[3] + at[4];
        }
#pragma unroll
        for (int y = 0; y < 10; ++y) {
            float pixel = (row[y] + row[y + 1] + row[y + 2] + row[y + 3] + row[y + 4]) * 0.04f;
#pragma unroll
            for (int c = 0; c < 10; ++c) sum[c] += pixel * weights[c * 3600 + (top + y) * 60 + x];
        }
    }
#pragma unroll
    for (int c = 0; c < 10; ++c) {
        for (int apart = 16; apart > 0; apart /= 2) sum[c] += __shfl_down_sync(0xffffffff, sum[c], apart);
        if (t % 32 == 0) part[t / 32][c] = sum[c];
    }
    __syncthreads();
    if (t < 10) {
        float all = 0.0f;
        for (int w = 0; w < 12; ++w) all += part[w][t];
        part[0][t] = all;
        scores[blockIdx.x * 10 + t] = all;
    }
    __syncthreads();
    if (t == 0) {
        int found = 0;
        for (int c = 1; c < 10; ++c)
            if (part[0][c] > part[0][found]) found = c;
        best[blockIdx.x] = found;
    }
}
