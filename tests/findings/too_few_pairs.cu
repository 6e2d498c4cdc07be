// The grid has fewer threads than there are pairs of elements.
// run: --grid 3 --block 128 --arg out:f32[1000] --arg in:f32[1000]
// says: 232 of 1,000 elements of 'y' were never written, the first is y[768]: the grid has 384 threads, and each writes 2
// says: Launch more threads
__global__ void scale(float *y, const float *x) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    y[i] = 2 * x[i];
    y[i + 1] = 2 * x[i + 1];
}
