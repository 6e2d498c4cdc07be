// A stencil reads to the left of the first element.
// run: --grid 1 --block 64 --arg out:f32[64] --arg in:f32[64]
// says: invalid global read of 4 bytes, 4 bytes before the start of 'x' (256 bytes): x[-1] of 64 elements, whose index is threadIdx.x - 1
// says: Let only threads come here for which threadIdx.x - 1 >= 0 holds.
// exit: 1
__global__ void difference(float *y, const float *x) {
    int i = threadIdx.x;
    y[i] = x[i] - x[i - 1];
}
