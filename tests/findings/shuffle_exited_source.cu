// The upper lanes have returned; the lanes beside them still shuffle down from them.
// run: --grid 1 --block 32 --arg out:i32[32] --arg i32:20 --check all
// says: warning: synccheck: a shuffle reads from a lane that does not take part: on line 8 lane 16 of warp 0 takes the value of lane 20, which has ended
// says: it is stored on line 9
__global__ void from_above(int *out, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    int v = t + __shfl_down_sync(0xffffffffu, t, 4);
    out[t] = v;
}
