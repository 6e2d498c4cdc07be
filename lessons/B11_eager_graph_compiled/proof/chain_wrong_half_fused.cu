// fails: accesses@space:global
extern "C" __global__ void chain(const float *x, const float *g, volatile float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] * g[i] + 1.0f;
    y[i] = fmaxf(y[i], 0.0f) * x[i];
}
