// From the last weight to the first.
extern "C" __global__ void lars(float *w, const float *g, int n, float rate, float trust) {
    float weight = 0.0f, gradient = 0.0f;
    for (int i = n; i-- > 0;) {
        weight += w[i] * w[i];
        gradient += g[i] * g[i];
    }
    float local = gradient > 0.0f ? sqrtf(weight) / sqrtf(gradient) * trust : 1.0f;
    for (int i = n; i-- > 0;) w[i] -= local * rate * g[i];
}
