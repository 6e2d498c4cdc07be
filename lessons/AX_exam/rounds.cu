__global__ void rounds(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = i % 4 + 1;
    float v = x[i];
    while (left > 0) {
        v = v * v + x[32 * left + i];
        left = left - 1;
    }
    x[i] = v;
}
