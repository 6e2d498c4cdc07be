// fails: cycles
__global__ void add_bias(const float *x, const float *bias, float *y, int rows, int columns) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int i = 0; i < rows * columns; ++i) y[i] = x[i] + bias[i % columns];
}
