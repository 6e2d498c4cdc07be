// A histogram of few values: all warps want the same few counters.
// run timed: --grid 160 --block 256 --arg "in:u8[262144 below 4]" --arg "inout:u32[4 zero]" --arg i32:262144
// says: Bound by atomics.
// says: The 32 threads of a warp that do this atomic together meet at 4 addresses
// says: Add up first: in registers, then in the warp
__global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (; i < n; i += stride) atomicAdd(&bins[x[i]], 1);
}
