// The last block adds up what the others have left, and no fence stands between their writes and their counting.
// run: --grid 8 --block 64 --arg in:f32[512] --arg out:f32[8] --arg out:f32[1] --check all
// says: warning: racecheck: a fence is missing: thread (0,0,0) of block
// says: at last_block_no_fence.cu:19 and tells of it by the atomic at last_block_no_fence.cu:20
// says: reads it at last_block_no_fence.cu:25
// says: Put a __threadfence() in front of the atomic at last_block_no_fence.cu:20
__device__ unsigned int finished;
__global__ void grand_total(const float *in, float *of_block, float *out) {
    __shared__ float held[64];
    __shared__ bool is_last;
    int t = threadIdx.x;
    held[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) held[t] += held[t + half];
        __syncthreads();
    }
    if (t == 0) {
        of_block[blockIdx.x] = held[0];
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += of_block[b];
        *out = sum;
    }
}
