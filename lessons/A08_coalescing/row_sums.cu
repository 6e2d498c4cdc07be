// The sum of every row of a matrix of whole numbers. A block is one warp and owns 32 rows; `columns` is a multiple of 32.
// One thread a row is simple, but at every step the 32 lanes read 32 different rows.
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    int row = blockIdx.x * 32 + threadIdx.x;
    int total = 0;
    for (int k = 0; k < columns; ++k) total += matrix[row * columns + k];
    sum[row] = total;
}
