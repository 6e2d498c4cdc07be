// fails: races
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[256];
    int i = threadIdx.x;
    part[i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (i < s) part[i] += part[i + s];
        if (s > 32) __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = part[0];
}
