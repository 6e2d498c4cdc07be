// Odd lanes ask lane 0, which is not among the lanes that shuffle.
// run: --grid 1 --block 32 --arg out:i32[32] --check all
// says: warning: synccheck: a shuffle reads from a lane that does not take part: on line 10 lane 1 of warp 0 takes the value of lane 0
// says: which the member mask 0xaaaaaaaa does not name
// says: it is stored on line 12
__global__ void ask_first(int *out) {
    int v = 100 + threadIdx.x;
    if (threadIdx.x & 1) {
        unsigned here = __activemask();
        v = __shfl_sync(here, v, 0);
    }
    out[threadIdx.x] = v;
}
