// A block waits for a volatile flag of the block before it, which is set with no fence behind the data.
// run: --grid 3 --block 32 --arg in:f32[96] --arg out:f32[96] --arg inout:i32{0,0,0} --check all
// says: warning: racecheck: a fence is missing
// says: and tells of it by the volatile write at flag_no_fence.cu:14
// says: Put a __threadfence() in front of the volatile write at flag_no_fence.cu:14
__global__ void chain(const float *in, float *out, volatile int *ready) {
    int b = blockIdx.x, t = threadIdx.x, i = b * 32 + t;
    if (b > 0)
        while (ready[b - 1] == 0) {
        }
    __syncwarp();
    out[i] = in[i] + (b > 0 ? out[i - 32] : 0);
    __syncwarp();
    if (t == 0) ready[b] = 1;
}
