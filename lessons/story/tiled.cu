// A block blurs ten rows of a picture, out of fourteen that it has fetched once. Grid: six blocks a picture; block: 320.
__global__ void blur_tile(float *blurred, const float *pixels) {
    __shared__ __align__(16) float tile[14 * 64];
    int picture = blockIdx.x / 6, top = blockIdx.x % 6 * 10;
    const float4 *rows = (const float4 *)(pixels + picture * 4096 + top * 64);
    if (threadIdx.x < 14 * 64 / 4) ((float4 *)tile)[threadIdx.x] = rows[threadIdx.x];  // four pixels a thread, all at once
    __syncthreads();
    for (int k = threadIdx.x; k < 600; k += blockDim.x) {
        int y = k / 60, x = k % 60;
        float sum = 0.0f;
#pragma unroll
        for (int dy = 0; dy < 5; ++dy)
#pragma unroll
            for (int dx = 0; dx < 5; ++dx) sum += tile[(y + dy) * 64 + x + dx];
        blurred[picture * 3600 + top * 60 + k] = sum * 0.04f;
    }
}
