// The numbers are constants of type float, and 0.5 + 0.25 p is worked out as one polynomial.
constexpr float a = 0.75f, b = -0.25f * 0.3333f, c = 0.25f * 0.1333f, d = -0.25f * 0.054f;
extern "C" __global__ void bend(const float* x, float* y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) {
        float v = x[i], t = v * v;
        y[i] = v * (a + t * (b + t * (c + t * d)));
    }
}
