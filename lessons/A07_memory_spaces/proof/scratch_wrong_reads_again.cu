// fails: global_reads
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < 64; ++round) sum = sum * 0.9f + a[4 * i + ((round / 4 + round - i) & 3)];
    out[i] = sum;
}
