// fails: outputs
__global__ void product(const float *x, const float *w, float *y, int rows, int columns, int inner) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    for (int k = 0; k < inner; ++k) y[row * columns + column] += x[row * inner + k] * w[k * columns + column];
}
