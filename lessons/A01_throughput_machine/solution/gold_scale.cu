// Four neighbours at once, and the next four asked for before these are used: fewer instructions, more requests under way.
__global__ void scale(const float *x, float *y, int n) {
    const float4 *in = reinterpret_cast<const float4 *>(x);
    float4 *out = reinterpret_cast<float4 *>(y);
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    int fours = n / 4;
    for (int i = thread; i < fours; i += 2 * threads) {
        float4 v = in[i], w = v;
        bool second = i + threads < fours;
        if (second) w = in[i + threads];
        out[i] = make_float4(2.0f * v.x + 1.0f, 2.0f * v.y + 1.0f, 2.0f * v.z + 1.0f, 2.0f * v.w + 1.0f);
        if (second)
            out[i + threads] = make_float4(2.0f * w.x + 1.0f, 2.0f * w.y + 1.0f, 2.0f * w.z + 1.0f, 2.0f * w.w + 1.0f);
    }
    for (int i = 4 * fours + thread; i < n; i += threads) y[i] = 2.0f * x[i] + 1.0f;  // what is left of n
}
