// The old reduction in the last warp: volatile, and no __syncwarp() between its steps.
// run: --grid 1 --block 64 --arg in:f32[64] --arg out:f32[1] --check all
// says: warning: racecheck: volatile is no barrier: thread
// says: of the same warp
// says: since Volta threads of one warp do not run in step
// says: Put a __syncwarp() behind every step
__global__ void total(const float *in, float *out) {
    __shared__ volatile float held[64];
    int t = threadIdx.x;
    held[t] = in[t];
    __syncthreads();
    if (t < 32) {
        held[t] += held[t + 32];
        held[t] += held[t + 16];
        held[t] += held[t + 8];
        held[t] += held[t + 4];
        held[t] += held[t + 2];
        held[t] += held[t + 1];
    }
    if (t == 0) *out = held[0];
}
