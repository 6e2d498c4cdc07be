// One warp takes eight rows of 32, and a butterfly finishes.
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t >= 32) return;
    int v = 0;
    for (int k = 0; k < 256; k += 32) v += part[k + t];
    for (int apart = 16; apart > 0; apart /= 2) v += __shfl_xor_sync(0xffffffff, v, apart);
    if (t == 0) out[blockIdx.x] = v;
}
