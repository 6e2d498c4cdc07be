// Blocks take tile after tile, and there are fewer tiles than the output has.
// run: --grid 2 --block 64 --arg out:f32[1000] --arg in:f32[1000] --arg i32:11
// says: 296 of 1,000 elements of 'y' were never written, the first is y[704]
// says: Look at the index of the write, and at the condition in front of it.
// never: the grid has
__global__ void scale(float *y, const float *x, int tiles) {
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int i = tile * blockDim.x + threadIdx.x;
        y[i] = 2 * x[i];
    }
}
