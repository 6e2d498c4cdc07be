// Few threads and many rounds: a kernel that takes its time and leaves room beside it.
__global__ void linger(float *y, const float *x, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < rounds; ++k) v = 0.999f * v + 1.0f;
    y[i] = v;
}
