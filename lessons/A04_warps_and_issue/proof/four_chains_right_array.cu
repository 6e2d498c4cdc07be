// The same by an array: unrolled, every element is a register.
__global__ void four_chains(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) v[c] = x[4 * i + c];
#pragma unroll 16
    for (int k = 0; k < 512; ++k)
#pragma unroll
        for (int c = 0; c < 4; ++c) v[c] = v[c] * 0.999f + 1.0f;
#pragma unroll
    for (int c = 0; c < 4; ++c) x[4 * i + c] = v[c];
}
