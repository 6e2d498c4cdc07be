// Everything in registers, the derivative by the quotient.
extern "C" __global__ void by_hand(const float *x, const float *y, float *z, float *dx, float *dy, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float a = x[i], b = y[i], s = a * (3.0f * a + 5.0f * b);
        z[i] = logf(s);
        dx[i] = (6.0f * a + 5.0f * b) / s;
        dy[i] = 5.0f * a / s;
    }
}
