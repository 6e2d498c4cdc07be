// The same with several blocks, which no barrier orders.
// run: --grid 256 --block 1 --arg inout:f32[256] --arg i32:256 --check all
// exit: 1
// says: with nothing between them that orders the two blocks
// says: Let the kernel write to a second array: blocks run in any order, and others still read here.
__global__ void blur(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}
