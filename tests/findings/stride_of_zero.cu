// A loop whose step is an argument, and 0.
// run functional: --grid 1 --block 32 --arg out:i32[32] --arg i32:1000 --arg i32:0 --max-instructions 100000
// exit: 1
// says: runaway: the kernel still ran after 100000 warp instructions
// says: compares 0 with 1,000, and neither of them changes from round to round
// says: Look at what the loop is to change in each round: a step of 0
__global__ void powers(int *y, int n, int stride) {
    int sum = 1;
#pragma unroll 1
    for (int i = 0; i < n; i += stride) {
        sum = sum * 3 + i;
        y[threadIdx.x] = sum;
    }
}
