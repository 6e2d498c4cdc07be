// fails: cycles
__global__ void product(const float *x, const float *w, float *y, int rows, int columns, int inner) {
    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y > 0) return;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            float sum = 0.0f;
            for (int k = 0; k < inner; ++k) sum += x[row * inner + k] * w[k * columns + column];
            y[row * columns + column] = sum;
        }
}
