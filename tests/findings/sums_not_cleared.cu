// Sums in shared memory that nobody has set to 0: a GPU's shared memory holds what the block before left there.
// run: --grid 2 --block 64 --arg in:i32[128] --arg inout:i32[4] --check all
// exit: 1
// says: uninitialised read of 4 bytes of shared memory 'own'
// says: which no thread of the block has written
// says: sums_not_cleared.cu:12
// says: let the block's threads set it first, for sums to 0, and put a __syncthreads() in front of the atomics
// never: racecheck
__global__ void count(const int *x, int *sums) {
    __shared__ int own[4];
    __syncthreads();
    atomicAdd(&own[x[blockIdx.x * 64 + threadIdx.x] & 3], 1);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}
