// fails: outputs
__global__ void hoard(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int k = 0; k < 12; ++k) sum = sum + a[(i + k * stride / 24) % stride];
    out[i] = 2.0f * sum;
}
