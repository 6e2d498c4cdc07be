// Two pointers walk along.
__global__ void product(const float *x, const float *w, float *y, int rows, int columns, int inner) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        const float *a = x + row * inner, *b = w + column;
        float sum = 0.0f;
        for (int k = 0; k < inner; ++k, b += columns) sum = fmaf(*a++, *b, sum);
        y[row * columns + column] = sum;
    }
}
