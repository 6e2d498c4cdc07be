// Shared memory is volatile, and no barrier stands between one warp's writes and another warp's reads.
// run: --grid 1 --block 128 --arg in:i32[128] --arg out:i32[128] --check racecheck
// says: warning: racecheck: volatile is no barrier: thread
// says: of another warp
// says: volatile_across_warps.cu:10, with no barrier between them
// says: Put a __syncthreads() between volatile_across_warps.cu:9 and volatile_across_warps.cu:10
__global__ void backwards(const int *in, int *out) {
    __shared__ volatile int held[128];
    held[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = held[127 - threadIdx.x];
}
