// Sums of all lanes in shared memory; every lane adds them up.
extern "C" __global__ void lars(float* w, const float* g, int n, float rate, float trust) {
    __shared__ float weights[32], gradients[32];
    float weight = 0.0f, gradient = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        weight += w[i] * w[i];
        gradient += g[i] * g[i];
    }
    weights[threadIdx.x] = weight;
    gradients[threadIdx.x] = gradient;
    __syncthreads();
    weight = gradient = 0.0f;
    for (int lane = 0; lane < 32; ++lane) weight += weights[lane], gradient += gradients[lane];
    float local = 1.0f;
    if (gradient != 0.0f) local = trust * (sqrtf(weight) / sqrtf(gradient));
    for (int i = threadIdx.x; i < n; i += 32) w[i] -= rate * local * g[i];
}
