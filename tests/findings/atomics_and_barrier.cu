// A histogram in shared memory: cleared, counted by atomics, and carried out, with a barrier between the three.
// run: --grid 4 --block 64 --arg in:u32[256] --arg inout:i32{0,0,0,0,0,0,0,0} --check all
// quiet
__global__ void histogram(const unsigned *in, int *out) {
    __shared__ int count[8];
    if (threadIdx.x < 8) count[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&count[in[blockIdx.x * 64 + threadIdx.x] % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], count[threadIdx.x]);
}
