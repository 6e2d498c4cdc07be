__global__ void chain(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 512; ++k) {
        v = v * 0.999f + 1.0f;
    }
    x[i] = v;
}
