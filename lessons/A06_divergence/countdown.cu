__global__ void countdown(const int *trips, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int left = trips[i]; left > 0; --left) {
        v = v * 0.5f + 1.0f;
    }
    x[i] = v;
}
