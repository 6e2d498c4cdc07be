// A block has more threads than its array in shared memory has elements: a guard would leave out half of the sum.
// run: --grid 2 --block 256 --arg out:f32[2] --arg in:f32[512]
// says: invalid shared write of 4 bytes that reaches 4 bytes past the end of 'part' (512 bytes): part[128] of 128 elements, whose index is threadIdx.x
// says: The block has 256 threads, and 'part' has room for 128 elements: make it as large as the block, or launch blocks of at most 128 threads.
// never: guard the access
// exit: 1
__global__ void sum(float *y, const float *x) {
    __shared__ float part[128];
    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
