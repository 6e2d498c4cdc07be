// Sums in shared memory that some threads clear, and no barrier before all add to them: 48 sums, so that two warps clear.
// run: --grid 2 --block 64 --arg in:i32[128] --arg inout:i32[48] --check all
// exit: 1
// says: race: write of 4 bytes to shared memory 'own'
// says: and atomic by thread
// says: with no barrier between them
// says: cleared_without_barrier.cu:11
// says: cleared_without_barrier.cu:12
__global__ void count(const int *x, int *sums) {
    __shared__ int own[48];
    if (threadIdx.x < 48) own[threadIdx.x] = 0;
    atomicAdd(&own[(unsigned)x[blockIdx.x * 64 + threadIdx.x] % 48], 1);
    __syncthreads();
    if (threadIdx.x < 48) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}
