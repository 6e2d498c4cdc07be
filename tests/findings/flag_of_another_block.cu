// Each block waits for the block before it: data, fence, flag; flag, fence, data.
// run: --grid 6 --block 32 --arg in:i32[192] --arg out:i32[6] --arg inout:i32{0,0,0,0,0,0} --check all
// quiet
__global__ void running_total(const int *in, int *total, int *ready) {
    int b = blockIdx.x, sum = in[b * 32 + threadIdx.x] & 255;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) {
        if (b > 0) {
            while (atomicAdd(&ready[b - 1], 0) == 0) {
            }
            __threadfence();
            sum += total[b - 1];
        }
        total[b] = sum;
        __threadfence();
        atomicExch(&ready[b], 1);
    }
}
