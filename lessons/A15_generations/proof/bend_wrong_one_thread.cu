// fails: cycles
extern "C" __global__ void bend(const float* x, float* y, int n) {
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    for (int i = 0; i < n; ++i) {
        float v = x[i], t = v * v;
        float p = 1 + t * (-0.3333f + t * (0.1333f - t * 0.054f));
        y[i] = v * (0.5f + 0.25f * p);
    }
}
