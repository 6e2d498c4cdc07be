// A bent line, as activations have: each number takes six multiplications and four additions. How many cycles should it take?
extern "C" __global__ void bend(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) {
        float v = x[i], t = v * v;
        float p = 1 + t * (-0.3333 + t * (0.1333 - t * 0.054));
        y[i] = v * (0.5 + 0.25 * p);
    }
}
