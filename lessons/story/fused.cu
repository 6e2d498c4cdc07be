// A block has a whole picture in shared memory, blurs it, scores each blurred pixel at once and chooses the class. Grid: a
// block a picture; block: 384.
__global__ void blur_and_score(float *scores, int *best, const float *pixels, const float *weights) {
    __shared__ float tile[4096];
    __shared__ float part[12][10];
    int t = threadIdx.x;
    for (int k = t; k < 4096; k += 384) tile[k] = pixels[blockIdx.x * 4096 + k];
    __syncthreads();
    float sum[10] = {};
    for (int k = t; k < 3600; k += 384) {
        const float *corner = tile + k / 60 * 64 + k % 60;
        float pixel = 0.0f;
#pragma unroll
        for (int dy = 0; dy < 5; ++dy)
#pragma unroll
            for (int dx = 0; dx < 5; ++dx) pixel += corner[dy * 64 + dx];
        pixel *= 0.04f;
#pragma unroll
        for (int c = 0; c < 10; ++c) sum[c] += pixel * weights[c * 3600 + k];
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
