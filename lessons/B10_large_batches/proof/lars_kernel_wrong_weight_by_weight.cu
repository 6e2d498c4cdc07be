// fails: outputs
extern "C" __global__ void lars(float *w, const float *g, int n, float rate, float trust) {
    for (int i = 0; i < n; ++i) {
        float local = g[i] != 0.0f ? trust * fabsf(w[i]) / fabsf(g[i]) : 1.0f;
        w[i] -= rate * local * g[i];
    }
}
