// fails: cycles
__global__ void hoard(const float *a, float *out) {
    int stride = gridDim.x * blockDim.x;
    if (threadIdx.x >= 32) return;
    for (int t = threadIdx.x; t < 256; t += 32) {
        int i = blockIdx.x * blockDim.x + t;
        float sum = 0.0f;
#pragma unroll 1
        for (int k = 0; k < 24; ++k) sum = sum + a[(i + k * stride / 24) % stride];
        out[i] = sum;
    }
}
