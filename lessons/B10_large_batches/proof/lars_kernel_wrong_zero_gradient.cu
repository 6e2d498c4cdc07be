// fails: outputs
extern "C" __global__ void lars(float* w, const float* g, int n, float rate, float trust) {
    float weight = 0.0f, gradient = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        weight += w[i] * w[i];
        gradient += g[i] * g[i];
    }
    for (int far = 16; far > 0; far /= 2) {
        weight += __shfl_xor_sync(0xffffffffu, weight, far);
        gradient += __shfl_xor_sync(0xffffffffu, gradient, far);
    }
    float local = trust * sqrtf(weight) / sqrtf(gradient);
    for (int i = threadIdx.x; i < n; i += 32) w[i] -= rate * local * g[i];
}
