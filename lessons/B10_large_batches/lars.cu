extern "C" __global__ void lars(float* w, const float* g, int n, float rate, float trust) {
    for (int i = 0; i < n; ++i) w[i] -= rate * g[i];
}
