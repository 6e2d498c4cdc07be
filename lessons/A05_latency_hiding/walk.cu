__global__ void walk(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int k = 0; k < 8; ++k) {
        float v = a[i + k * stride];
        sum = sum * 0.5f + v;
        sum = sum * sum + v;
    }
    out[i] = sum;
}
