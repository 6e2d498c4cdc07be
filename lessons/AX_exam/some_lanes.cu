__global__ void some_lanes(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if ((threadIdx.x & 6) == 6) {
        v = v * v;
        for (int k = 0; k < 3; ++k) v = v * 0.5f + 1.0f;
        x[i] = v;
    }
}
