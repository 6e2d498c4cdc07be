// Each thread turns four values round by an index that is known only at run time. So the array cannot stay in registers:
// it lies in local memory, which every round reads again.
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[4];
#pragma unroll 1
    for (int k = 0; k < 4; ++k)
        kept[(i + k) % 4] = a[4 * i + k];
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < 16; ++round)
        for (int k = 0; k < 4; ++k)
            sum = sum * 0.9f + kept[(round + k) % 4];
    out[i] = sum;
}
