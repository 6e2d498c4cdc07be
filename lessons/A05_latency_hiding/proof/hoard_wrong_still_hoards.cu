// fails: theoretical_occupancy
__global__ void hoard(const float *a, float *out) {
    __shared__ float kept[24][256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 24; ++k) kept[k][t] = a[(i + k * stride / 24) % stride];
#pragma unroll
    for (int k = 0; k < 24; ++k) sum = sum + kept[k][t];
    out[i] = sum;
}
