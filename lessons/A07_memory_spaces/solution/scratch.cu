// The turning moves into the address of the load, where an index may be anything. In the array every index is a constant
// once the loops are unrolled, and each element becomes a register.
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        kept[k] = a[4 * i + (k + 4 - i % 4) % 4];
    float sum = 0.0f;
#pragma unroll
    for (int round = 0; round < 16; ++round)
#pragma unroll
        for (int k = 0; k < 4; ++k)
            sum = sum * 0.9f + kept[(round + k) % 4];
    out[i] = sum;
}
