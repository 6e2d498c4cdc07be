// fails: cycles
extern "C" __global__ void lars(float* w, const float* g, int n, float rate, float trust) {
    if (threadIdx.x > 0) return;
    float weight = 0.0f, gradient = 0.0f;
    for (int i = 0; i < n; ++i) {
        weight += w[i] * w[i];
        gradient += g[i] * g[i];
    }
    float local = gradient > 0.0f ? trust * sqrtf(weight) / sqrtf(gradient) : 1.0f;
    for (int i = 0; i < n; ++i) w[i] -= rate * local * g[i];
}
