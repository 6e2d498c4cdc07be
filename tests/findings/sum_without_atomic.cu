// All threads add to one word, and none of them says so.
// run: --grid 4 --block 64 --arg in:f32[256] --arg inout:f32[1] --arg i32:256 --check all
// exit: 1
// says: racecheck
// says: Threads read the value, change it and write it back, and what another one did meanwhile is lost: use an atomic (atomicAdd)
__global__ void sum(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *out += x[i];
}
