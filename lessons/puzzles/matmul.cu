// C = A B, n x n, FP32. A block of 16 x 16 threads makes a tile of 32 x 32, four elements a thread, by way of shared memory.
// Grid (n/32, n/32), block (16, 16).
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float left[32][17], right[16][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum[2][2] = {};
    for (int k = 0; k < n; k += 16) {
        left[ty][tx] = a[row * n + k + tx];
        left[ty + 16][tx] = a[(row + 16) * n + k + tx];
        right[ty][tx] = b[(k + ty) * n + column];
        right[ty][tx + 16] = b[(k + ty) * n + column + 16];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float x = left[ty][i], y = left[ty + 16][i], u = right[i][tx], v = right[i][tx + 16];
            sum[0][0] += x * u;
            sum[0][1] += x * v;
            sum[1][0] += y * u;
            sum[1][1] += y * v;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) c[(row + i / 2 * 16) * n + column + i % 2 * 16] = sum[i / 2][i % 2];
}
