// The three steps of one element by one thread, its block's run of neighbours by neighbouring threads.
extern "C" __global__ void passes(const float *x, float *y, int n) {
    int run = (n + gridDim.x - 1) / gridDim.x, past = min(n, (int)(blockIdx.x + 1) * run);
    for (int i = blockIdx.x * run + threadIdx.x; i < past; i += blockDim.x) {
        float v = y[i];
        v *= 0.5f;
        v += x[i];
        v *= v;
        y[i] = v;
    }
}
