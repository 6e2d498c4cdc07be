// polish, then every element by its weight; all chunks use the same weights.
__global__ void weigh(float *y, const float *x, const float *w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 20; ++k) v = 0.999f * v + 1.0f;
    y[i] = v * w[i];
}
