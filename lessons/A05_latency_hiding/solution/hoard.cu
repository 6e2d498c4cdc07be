// Each value is added as it comes: nothing has to be kept, and shared memory limits no longer.
__global__ void hoard(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < 24; ++k) sum = sum + a[(i + k * stride / 24) % stride];
    out[i] = sum;
}
