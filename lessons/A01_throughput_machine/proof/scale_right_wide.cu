// Four numbers at a time, and the rest of at most three one by one.
__global__ void scale(const float *x, float *y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, fours = n / 4;
    for (int i = t; i < fours; i += threads) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        reinterpret_cast<float4 *>(y)[i] =
            make_float4(2.0f * v.x + 1.0f, 2.0f * v.y + 1.0f, 2.0f * v.z + 1.0f, 2.0f * v.w + 1.0f);
    }
    for (int i = 4 * fours + t; i < n; i += threads) y[i] = 2.0f * x[i] + 1.0f;
}
