// One thread an element of C. Block (32, 32).
__global__ void swap_axes(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.x * 32 + threadIdx.x;
    int column = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
