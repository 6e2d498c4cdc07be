// A butterfly in every warp, then the eight sums.
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[8];
    int v = in[blockIdx.x * 256 + threadIdx.x];
    for (int apart = 16; apart > 0; apart /= 2) v += __shfl_xor_sync(0xffffffff, v, apart);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int k = 1; k < 8; ++k) v += part[k];
    out[blockIdx.x] = v;
}
