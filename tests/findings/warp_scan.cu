// A running sum in the lanes of a warp, the last warp not full: lanes take only what lanes below them have.
// run: --grid 1 --block 48 --arg in:i32[48] --arg out:i32[48] --check all
// quiet
__global__ void running(const int *in, int *out) {
    int lane = threadIdx.x % 32, sum = in[threadIdx.x];
    unsigned here = __activemask();
    for (int far = 1; far < 32; far *= 2) {
        int below = __shfl_up_sync(here, sum, far);
        if (lane >= far) sum += below;
    }
    out[threadIdx.x] = sum;
}
