// fails: cycles
__global__ void swap_axes(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += atomicAdd(const_cast<float *>(a) + row * n + k, 0.0f) * b[k * n + column];
    c[row * n + column] = sum;
}
