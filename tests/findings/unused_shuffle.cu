// Some lanes shuffle from a lane that has returned, and throw away what they get.
// run: --grid 1 --block 32 --arg in:i32[32] --arg out:i32[32] --arg i32:20 --check all
// quiet
__global__ void differences(const int *in, int *out, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    int v = in[t], next = __shfl_down_sync(0xffffffffu, v, 1);
    out[t] = t + 1 < n ? next - v : 0;
}
