// Four weights and four gradients at a time: eight numbers are on their way while four squares of each are added up.
extern "C" __global__ void lars(float* __restrict__ w, const float* __restrict__ g, int n, float rate, float trust) {
    float weight[4] = {0.0f, 0.0f, 0.0f, 0.0f}, gradient[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int fours = n / 4;
#pragma unroll 4
    for (int i = 0; i < fours; ++i) {
        float4 a = ((const float4*)w)[i], b = ((const float4*)g)[i];
        weight[0] += a.x * a.x, weight[1] += a.y * a.y, weight[2] += a.z * a.z, weight[3] += a.w * a.w;
        gradient[0] += b.x * b.x, gradient[1] += b.y * b.y, gradient[2] += b.z * b.z, gradient[3] += b.w * b.w;
    }
    for (int i = 4 * fours; i < n; ++i) {
        weight[0] += w[i] * w[i];
        gradient[0] += g[i] * g[i];
    }
    float all = gradient[0] + gradient[1] + gradient[2] + gradient[3];
    float norm = weight[0] + weight[1] + weight[2] + weight[3];
    float step = rate * (all > 0.0f ? trust * sqrtf(norm) / sqrtf(all) : 1.0f);
#pragma unroll 4
    for (int i = 0; i < fours; ++i) {
        float4 a = ((const float4*)w)[i], b = ((const float4*)g)[i];
        ((float4*)w)[i] = make_float4(a.x - step * b.x, a.y - step * b.y, a.z - step * b.z, a.w - step * b.w);
    }
    for (int i = 4 * fours; i < n; ++i) w[i] -= step * g[i];
}
