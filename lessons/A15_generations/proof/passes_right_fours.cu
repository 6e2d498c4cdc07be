// One pass, four numbers a load; what does not fill four is taken singly.
extern "C" __global__ void passes(const float *x, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n / 4; i += threads) {
        float4 a = reinterpret_cast<const float4 *>(x)[i], b = reinterpret_cast<float4 *>(y)[i];
        b.x = 0.5f * b.x + a.x, b.y = 0.5f * b.y + a.y, b.z = 0.5f * b.z + a.z, b.w = 0.5f * b.w + a.w;
        reinterpret_cast<float4 *>(y)[i] = make_float4(b.x * b.x, b.y * b.y, b.z * b.z, b.w * b.w);
    }
    for (int i = n / 4 * 4 + first; i < n; i += threads) {
        float sum = 0.5f * y[i] + x[i];
        y[i] = sum * sum;
    }
}
