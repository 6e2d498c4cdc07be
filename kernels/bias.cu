// A linear layer's bias: y = x + bias for every row of a batch, and its gradient, the sum of dy over the rows.
// R rows, C columns, row-major.
// add_bias:  one thread an element; launch ceil(R C / 256) blocks of 256.  Bytes: 8 R C + 4 C.
// bias_grad: a block owns 32 columns and walks down the rows 8 at a time, so that a warp reads 32 neighbours; then the 8
//            partial sums of a column are added in order, so the result is the same every time.
//            Launch ceil(C / 32) blocks of (32, 8).  Bytes: 4 R C + 4 C.

extern "C" __global__ void add_bias_f32(const float* x, const float* bias, float* y, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) y[i] = x[i] + bias[i % columns];                    // [R,C] + [C]
}

extern "C" __global__ void bias_grad_f32(const float* dy, float* dbias, int rows, int columns) {
    __shared__ float partial[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (column < columns)
        for (int row = threadIdx.y; row < rows; row += 8) sum += dy[row * columns + column];  // [R,C]
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int i = 1; i < 8; ++i) sum += partial[i][threadIdx.x];
        dbias[column] = sum;                                                    // [C]
    }
}
