// fails: accesses@space:local
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[4];
    for (int k = 0; k < 4; ++k) kept[(i + k) % 4] = a[4 * i + k];
    float sum = 0.0f;
#pragma unroll
    for (int round = 0; round < 16; ++round)
#pragma unroll
        for (int k = 0; k < 4; ++k) sum = sum * 0.9f + kept[(round + k) % 4];
    out[i] = sum;
}
