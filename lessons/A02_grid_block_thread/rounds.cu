extern __shared__ float tile[];

__global__ void rounds(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float v = 0.0f;
    for (int k = 0; k < 64; ++k) {
        v = v * 0.5f + tile[(threadIdx.x + k) % 32];
    }
    if (i < n) {
        y[i] = v;
    }
}
