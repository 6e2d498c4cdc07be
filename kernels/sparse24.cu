// A product with weights of which two of every four along K are kept: C[M,N] = A[M,K] B[N,K] transposed, B[N,K] stored as
// values[N,K/2] and two bits a value that say which of its four it was, the first value's lowest (what mma.sp reads): a word has
// 8 groups, 32 columns of B. A row of B has ceil(K/32) words; K is a multiple of 4.
// A tile of 16 x 16 threads as in matmul.cu; half its multiplications, and B's bytes are 1/2 + 1/16 of the dense ones.
// Launch: grid (ceil(N/16), ceil(M/16)), block (16, 16).

extern "C" __global__ void sparse24_matmul_f32(const float* a, const float* values, const int* which, float* c, int m, int n,
                                               int k) {
    __shared__ float a_tile[16][32];                                            // [row, k]
    __shared__ float b_tile[16][17];                                            // [column, kept]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx, b_row = blockIdx.x * 16 + ty;
    int kept = k / 2, words = (k + 31) / 32;
    float sum = 0;
    for (int w = 0; w < words; ++w) {
        int k0 = w * 32;
        a_tile[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0;
        a_tile[ty][tx + 16] = row < m && k0 + 16 + tx < k ? a[row * k + k0 + 16 + tx] : 0;
        b_tile[ty][tx] = b_row < n && w * 16 + tx < kept ? values[b_row * kept + w * 16 + tx] : 0;
        unsigned places = column < n ? (unsigned)which[column * words + w] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a_tile[ty][i / 2 * 4 + (places >> 2 * i & 3)] * b_tile[tx][i];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}
