// fails: outputs
extern "C" __global__ void chain(const float *x, const float *g, volatile float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float own = x[i];
    y[i] = (own * g[i] + 1.0f) * own;
}
