// Two sums that do not wait for each other, nothing kept.
__global__ void hoard(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float even = 0.0f, odd = 0.0f;
#pragma unroll 1
    for (int k = 0; k < 24; k += 2) {
        even += a[(i + k * stride / 24) % stride];
        odd += a[(i + (k + 1) * stride / 24) % stride];
    }
    out[i] = even + odd;
}
