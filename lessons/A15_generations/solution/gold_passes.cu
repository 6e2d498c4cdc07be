// One pass, and four neighbours at a time: a quarter of the requests, and sixteen bytes under way for each thread.
extern "C" __global__ void passes(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const float4* xs = reinterpret_cast<const float4*>(x);
    float4* ys = reinterpret_cast<float4*>(y);
    for (int i = first; i < n / 4; i += threads) {
        float4 v = xs[i], w = ys[i];
        v = make_float4(0.5f * w.x + v.x, 0.5f * w.y + v.y, 0.5f * w.z + v.z, 0.5f * w.w + v.w);
        ys[i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
    }
    for (int i = n / 4 * 4 + first; i < n; i += threads) {
        float sum = 0.5f * y[i] + x[i];
        y[i] = sum * sum;
    }
}
