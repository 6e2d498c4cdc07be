// What is below zero needs no product.
extern "C" __global__ void chain(const float *x, const float *g, volatile float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i], gated = v * g[i] + 1.0f;
        y[i] = gated > 0.0f ? gated * v : 0.0f * v;
    }
}
