// A softmax by one thread a row: few blocks, and rows that neighbouring threads are far apart in.
// run timed: --gpu a100 --grid 8 --block 128 --arg in:f32[131072] --arg out:f32[131072] --arg i32:1024 --arg i32:128
// says: 8 blocks keep 8 of 108 SMs busy; the others have nothing to do.
// says: few_blocks.cu
// says: neighbouring threads are 512 bytes apart (128 elements)
__global__ void softmax(const float *x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float most = x[r * columns], sum = 0;
    for (int c = 1; c < columns; ++c) most = max(most, x[r * columns + c]);
    for (int c = 0; c < columns; ++c) sum += expf(x[r * columns + c] - most);
    for (int c = 0; c < columns; ++c) y[r * columns + c] = expf(x[r * columns + c] - most) / sum;
}
