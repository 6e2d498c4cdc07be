// Matrix products C = A B, row-major f32, with either operand transposed. Any M, N, K.
// The idea: a block of 16 x 16 threads makes a 16 x 16 tile of C; it walks along K 16 at a time, and what it reads from
// device memory it keeps in shared memory, so that each element is read once a tile and not once a thread.
// Launch: grid (ceil(N/16), ceil(M/16)), block (16, 16).  Bytes from device memory: 4 M N K (1/16 + 1/16) + 4 M N,
// where matmul_naive reads 8 M N K. Threads beyond the edge load zeros, so that the sums need no test.
// The transposed products are the backward pass of a linear layer: dX = dY W^T and dW = X^T dY.

#define TILE 16

extern "C" __global__ void matmul_nn_f32(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[TILE][TILE];                                        // [row, k]
    __shared__ float b_tile[TILE][TILE];                                        // [k, column]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;                                           // of C
    int column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        float a_value = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;       // A[M,K]
        float b_value = k0 + ty < k && column < n ? b[(k0 + ty) * n + column] : 0.0f;  // B[K,N]
        a_tile[ty][tx] = a_value;
        b_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}

// B is stored transposed. Rows of b_tile are 17 floats apart, so that 16 threads reading down a column meet 16 banks.
extern "C" __global__ void matmul_nt_f32(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[TILE][TILE];                                        // [row, k]
    __shared__ float b_tile[TILE][TILE + 1];                                    // [column, k]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    int b_row = blockIdx.x * TILE + ty;                                         // the column that this thread loads
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        float a_value = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;       // A[M,K]
        float b_value = b_row < n && k0 + tx < k ? b[b_row * k + k0 + tx] : 0.0f;   // B[N,K]
        a_tile[ty][tx] = a_value;
        b_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[tx][i];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}

// A is stored transposed.
extern "C" __global__ void matmul_tn_f32(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[TILE][TILE];                                        // [k, row]
    __shared__ float b_tile[TILE][TILE];                                        // [k, column]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    int a_column = blockIdx.y * TILE + tx;                                      // the row of C that this thread loads
    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        float a_value = k0 + ty < k && a_column < m ? a[(k0 + ty) * m + a_column] : 0.0f;  // A[K,M]
        float b_value = k0 + ty < k && column < n ? b[(k0 + ty) * n + column] : 0.0f;  // B[K,N]
        a_tile[ty][tx] = a_value;
        b_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[i][ty] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}

// The plain version, for comparison: one thread an element of C, everything from device memory. Any block shape.
extern "C" __global__ void matmul_naive_f32(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];      // A[M,K] B[K,N]
    c[row * n + column] = sum;                                                  // C[M,N]
}
