// A thread makes 8 elements of a column, a block 64 x 64.
__global__ void column_tile(const float *a, const float *b, float *c, int n, int depth) {
    __shared__ float ta[64][8], tb[8][64];
    int x = threadIdx.x % 64, y = threadIdx.x / 64;
    int top = blockIdx.y * 64, left = blockIdx.x * 64;
    float sum[8] = {};
    for (int k = 0; k < depth; k += 8) {
        ta[threadIdx.x / 8][threadIdx.x % 8] = a[(top + threadIdx.x / 8) * depth + k + threadIdx.x % 8];
        tb[y][x] = b[(k + y) * n + left + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float word = tb[i][x];
#pragma unroll
            for (int r = 0; r < 8; ++r) sum[r] += ta[y * 8 + r][i] * word;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) c[(top + y * 8 + r) * n + left + x] = sum[r];
}
