// fails: outputs
__global__ void block_sum(const int *in, int *out) {
    __shared__ int total;
    int v = in[blockIdx.x * 256 + threadIdx.x];
    for (int apart = 16; apart > 0; apart /= 2) v += __shfl_xor_sync(0xffffffff, v, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, v);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}
