// More threads than elements, and no test of the index.
// run: --grid 4 --block 256 --arg out:f32[1000] --arg in:f32[1000] --arg i32:1000
// says: invalid global read of 4 bytes that reaches 4 bytes past the end of 'x' (4000 bytes): x[1000] of 1,000 elements, whose index is blockIdx.x * blockDim.x + threadIdx.x
// says: The launch has 1,024 threads: guard the access with if (blockIdx.x * blockDim.x + threadIdx.x < n).
// exit: 1
__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
