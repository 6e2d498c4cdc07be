// fails: outputs
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[4], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) kept[k] = a[4 * i + (k + 4 - i % 4) % 4];
#pragma unroll
    for (int round = 8; round < 16; ++round)
#pragma unroll
        for (int k = 0; k < 4; ++k) sum = sum * 0.9f + kept[(round + k) % 4];
    out[i] = sum;
}
