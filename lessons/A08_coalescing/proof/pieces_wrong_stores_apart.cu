// fails: global_write_sectors
__global__ void pieces(const float *in, float *out) {
    __shared__ float kept[256 * 8];
    int block = blockIdx.x * blockDim.x * 8, first = threadIdx.x * 8;
    for (int k = 0; k < 8; ++k) kept[k * blockDim.x + threadIdx.x] = in[block + k * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; ++k) out[block + first + k] = 2.0f * kept[first + k];
}
