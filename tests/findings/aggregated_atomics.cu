// One atomic for all lanes that have found something: the lanes that are here elect one and share its answer.
// run: --grid 2 --block 64 --arg in:i32[128] --arg out:i32[128] --arg inout:i32{0} --check all
// quiet
__global__ void keep_odd(const int *in, int *out, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (in[i] & 1) {
        unsigned here = __activemask();
        int first = __ffs(here) - 1, at = 0;
        if (lane == first) at = atomicAdd(count, __popc(here));
        at = __shfl_sync(here, at, first);
        out[at + __popc(here & ((1u << lane) - 1))] = in[i];
    }
}
