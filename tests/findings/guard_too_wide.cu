// The guard lets one index too many through.
// run: --grid 4 --block 256 --arg out:f32[1000] --arg in:f32[1000] --arg i32:1000
// says: x[1000] of 1,000 elements
// says: lets an index of 1,000 through: write < instead of <=.
// exit: 1
__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 2 * x[i];
}
