// On the FP32 lanes: one warp, half a row of D a lane.
__global__ void lanes(const float *a, const float *b, float *d) {
    int row = threadIdx.x / 2, left = threadIdx.x % 2 * 8;
    float sum[8] = {};
#pragma unroll
    for (int k = 0; k < 16; ++k)
#pragma unroll
        for (int e = 0; e < 8; ++e)
            sum[e] = fmaf(a[row * 16 + k], b[k * 16 + left + e], sum[e]);
#pragma unroll
    for (int e = 0; e < 8; ++e) d[row * 16 + left + e] = sum[e];
}
