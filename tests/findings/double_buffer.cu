// Two tiles in turn: one barrier a round is enough, because nobody writes the tile that others still read.
// run: --grid 2,2 --block 16,16 --arg in:f32[1024] --arg in:f32[1024] --arg out:f32[1024] --arg i32:32 --check all
// quiet
#define SIDE 16
__global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float left[2][SIDE][SIDE], right[2][SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0;
    for (int tile = 0; tile < n / SIDE; ++tile) {
        int now = tile & 1;
        left[now][y][x] = a[row * n + tile * SIDE + x];
        right[now][y][x] = b[(tile * SIDE + y) * n + column];
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) sum += left[now][y][k] * right[now][k][x];
    }
    c[row * n + column] = sum;
}
