// A stencil that writes where its neighbours still read, in one block.
// run: --grid 1 --block 64 --arg inout:f32[64] --check all
// exit: 1
// says: Read what is needed into a variable first, then a barrier, then write; where several blocks work on the array, let the kernel write to a second one.
__global__ void blur(float *x) {
    int i = threadIdx.x;
    if (i > 0 && i < 63)
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}
