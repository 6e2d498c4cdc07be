__global__ void window_naive(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        sum += in[i + k];
    }
    out[i] = sum;
}
