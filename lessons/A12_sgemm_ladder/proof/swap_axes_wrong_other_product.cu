// fails: outputs
__global__ void swap_axes(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += b[row * n + k] * a[k * n + column];
    c[row * n + column] = sum;
}
