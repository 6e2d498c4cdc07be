// The grid's axes stay; those of the block are swapped.
__global__ void swap_axes(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x;
    const float *mine = a + row * n, *theirs = b + column;
    float sum = 0;
    for (int k = 0; k < n; ++k, theirs += n) sum = fmaf(*mine++, *theirs, sum);
    c[row * n + column] = sum;
}
