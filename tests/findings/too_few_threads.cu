// The grid has fewer threads than the output has elements.
// run: --grid 3 --block 256 --arg out:f32[1000] --arg in:f32[1000] --arg i32:1000
// says: warning: outputs: 232 of 1,000 elements of 'y' were never written, the first is y[768]: the grid has 768 threads
// says: Launch 4 blocks of 256 threads
__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
