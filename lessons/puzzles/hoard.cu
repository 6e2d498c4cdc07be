// Each thread keeps forty values in registers while it follows a chain of loads, and needs all of them at its end.
__global__ void hoard(const float* in, const int* next, float* out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x, at = i;
    float kept[40];
#pragma unroll
    for (int k = 0; k < 40; ++k) kept[k] = in[i] * (k + 1);
    for (int s = 0; s < steps; ++s) {
        at = next[at];
#pragma unroll
        for (int k = 0; k < 40; k += 20) kept[k] += at;
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 40; ++k) sum += kept[k] * kept[39 - k];
    out[(at + i) % all] = sum;
}
