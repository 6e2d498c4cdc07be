// Shuffles add within each warp; only eight numbers go through shared memory, behind one barrier instead of nine.
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[8];
    int i = threadIdx.x;
    int sum = in[blockIdx.x * 256 + i];
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
    if (i % 32 == 0) part[i / 32] = sum;
    __syncthreads();
    if (i >= 32) return;
    sum = i < 8 ? part[i] : 0;
#pragma unroll
    for (int apart = 4; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffff, sum, apart);
    if (i == 0) out[blockIdx.x] = sum;
}
