__global__ void work(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 20; ++k) v = 0.999f * v + 1.0f;
    y[i] = v;
}
