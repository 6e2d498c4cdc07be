// Threads of a warp stand in one row of C: A is the same word for all of them, B a run of 128 bytes.
__global__ void swap_axes(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * 32 + threadIdx.y;
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
