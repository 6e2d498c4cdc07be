// dx is the sum of its two paths.
extern "C" __global__ void by_hand(const float *x, const float *y, float *z, float *dx, float *dy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float square = x[i] * x[i], mixed = x[i] * y[i], s = 3.0f * square + 5.0f * mixed, up = 1.0f / s;
    float by_square = 3.0f * 2.0f * x[i], by_mixed = 5.0f * y[i];
    z[i] = logf(s);
    dx[i] = up * (by_square + by_mixed);
    dy[i] = up * 5.0f * x[i];
}
