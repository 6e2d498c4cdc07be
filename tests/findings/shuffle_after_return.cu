// The same with every collective of a warp and with the block's barrier: who has returned is not waited for.
// run: --grid 1 --block 96 --arg out:i32[96] --arg i32:70 --check all
// quiet
__global__ void collectives(int *out, int n) {
    __shared__ int seen[96];
    int i = threadIdx.x;
    if (i >= n) {
        out[i] = 0;
        return;
    }
    seen[i] = i;
    __syncwarp();
    int sum = seen[i];
    sum += __shfl_xor_sync(0xffffffffu, i, 0);
    sum += __any_sync(0xffffffffu, i == 3) + __all_sync(0xffffffffu, i >= 0);
    __syncthreads();
    sum += seen[n - 1 - i];
    sum += __match_any_sync(0xffffffffu, i & 1) != 0;
    out[i] = sum;
}
