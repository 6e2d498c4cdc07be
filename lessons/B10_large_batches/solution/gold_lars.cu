// Four weights and four gradients at a time, and eight such loads on their way before the first is added up.
extern "C" __global__ void lars(float* __restrict__ w, const float* __restrict__ g, int n, float rate, float trust) {
    float weight = 0.0f, gradient = 0.0f;
    int fours = n / 4, lane = threadIdx.x;
#pragma unroll 8
    for (int i = lane; i < fours; i += 32) {
        float4 a = ((const float4*)w)[i], b = ((const float4*)g)[i];
        weight += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
        gradient += b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
    }
    for (int i = 4 * fours + lane; i < n; i += 32) {
        weight += w[i] * w[i];
        gradient += g[i] * g[i];
    }
    for (int far = 16; far > 0; far /= 2) {
        weight += __shfl_xor_sync(0xffffffffu, weight, far);
        gradient += __shfl_xor_sync(0xffffffffu, gradient, far);
    }
    float step = rate * (gradient > 0.0f ? trust * sqrtf(weight) / sqrtf(gradient) : 1.0f);
#pragma unroll 8
    for (int i = lane; i < fours; i += 32) {
        float4 a = ((const float4*)w)[i], b = ((const float4*)g)[i];
        ((float4*)w)[i] = make_float4(a.x - step * b.x, a.y - step * b.y, a.z - step * b.z, a.w - step * b.w);
    }
    for (int i = 4 * fours + lane; i < n; i += 32) w[i] -= step * g[i];
}
