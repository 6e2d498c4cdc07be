extern "C" __global__ void lars(float* w, const float* g, int n, float rate, float trust) {
    for (int i = threadIdx.x; i < n; i += 32) w[i] -= rate * g[i];
}
