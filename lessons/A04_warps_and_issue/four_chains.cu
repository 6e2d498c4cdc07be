// Each thread works on four numbers, one after the other. Every step of a number waits for the step before it.
__global__ void four_chains(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int c = 0; c < 4; ++c) {
        float v = x[4 * i + c];
#pragma unroll 8
        for (int k = 0; k < 512; ++k) v = v * 0.999f + 1.0f;
        x[4 * i + c] = v;
    }
}
