// The sum of each block's 256 numbers, halving the numbers that are left. Here thread i adds at place 2 * s * i, so the
// places spread out as s grows and more and more lanes meet in a bank. Rearrange the additions: same sum, no conflict.
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[256];
    int i = threadIdx.x;
    part[i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int at = 2 * s * i;
        if (at < 256) part[at] += part[at + s];
        __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = part[0];
}
