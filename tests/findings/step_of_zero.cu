// A loop whose step is a product with 0.
// run: --grid 1 --block 32 --arg out:f32[32] --arg i32:1000
// exit: 1
// says: runaway: the kernel never ends
// says: nothing leads out of this loop
// says: or its step is 0
__global__ void powers(float *y, int n) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i *= 2) sum += 1.5f;
    y[threadIdx.x] = sum;
}
