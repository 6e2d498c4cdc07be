// fails: cycles
__global__ void block_sum(const int *in, int *out) {
    int total = 0;
    if (threadIdx.x > 0) return;
    for (int k = 0; k < 256; ++k) total += in[blockIdx.x * 256 + k];
    out[blockIdx.x] = total;
}
