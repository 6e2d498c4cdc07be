// fails: outputs
extern "C" __global__ void chain(const float *x, const float *g, volatile float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = x[i];
    y[i] = fmaxf(own * g[i] + 1.0f, 0.0f) * own;
}
