// y = x Wᵀ + b. Each row of W holds the weights of one output, as frameworks store them.
__global__ void linear(const float* x, const float* w, const float* b, float* y, int rows, int columns, int inner) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        float sum = b[column];
        for (int k = 0; k < inner; ++k) {
            sum += x[row * inner + k] * w[column * inner + k];
        }
        y[row * columns + column] = sum;
    }
}
