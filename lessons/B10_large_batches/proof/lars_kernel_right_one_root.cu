// One root of the quotient.
extern "C" __global__ void lars(float *w, const float *g, int n, float rate, float trust) {
    float weight = 0.0f, gradient = 0.0f;
    for (int i = 0; i < n; ++i) weight = fmaf(w[i], w[i], weight), gradient = fmaf(g[i], g[i], gradient);
    float local = 1.0f;
    if (gradient != 0.0f) local = trust * (sqrtf(weight) / sqrtf(gradient));
    const float step = rate * local;
    for (int i = 0; i < n; ++i) w[i] = w[i] - step * g[i];
}
