// The two halves of a warp go different ways, and each meets among itself.
// run: --grid 1 --block 64 --arg in:i32[64] --arg out:i32[64] --check all
// quiet
__global__ void halves(const int *in, int *out) {
    __shared__ int held[64];
    int t = threadIdx.x, lane = t % 32;
    held[t] = in[t];
    if (lane < 16) {
        __syncwarp(0x0000ffffu);
        out[t] = held[t ^ 1] + __shfl_xor_sync(0x0000ffffu, in[t], 2);
    } else {
        __syncwarp(0xffff0000u);
        out[t] = held[t ^ 2] - __shfl_xor_sync(0xffff0000u, in[t], 1);
    }
}
