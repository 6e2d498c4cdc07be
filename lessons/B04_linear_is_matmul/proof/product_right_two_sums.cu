// Two sums that do not wait for each other.
__global__ void product(const float *x, const float *w, float *y, int rows, int columns, int inner) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    float even = 0.0f, odd = 0.0f;
    for (int k = 0; k + 1 < inner; k += 2) {
        even += x[row * inner + k] * w[k * columns + column];
        odd += x[row * inner + k + 1] * w[(k + 1) * columns + column];
    }
    if (inner % 2) even += x[row * inner + inner - 1] * w[(inner - 1) * columns + column];
    y[row * columns + column] = even + odd;
}
