// C = A B, A m x k, B k x n: one element a thread, 16 x 16 tiles, 64 x 64 tiles with 4 x 4 elements a thread, and two
// buffers filled in turn.
extern "C" __global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= m) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = sum;
}

extern "C" __global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float ta[16][16], tb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int from = 0; from < k; from += 16) {
        ta[ty][tx] = y < m && from + tx < k ? a[y * k + from + tx] : 0;
        tb[ty][tx] = x < n && from + ty < k ? b[(from + ty) * n + x] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += ta[ty][i] * tb[i][tx];
        __syncthreads();
    }
    if (x < n && y < m) c[y * n + x] = sum;
}

extern "C" __global__ void registers(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float ta[8][64], tb[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, left = blockIdx.x * 64, top = blockIdx.y * 64;
    float sum[4][4] = {};
    for (int from = 0; from < k; from += 8) {
        for (int e = t; e < 512; e += 256) {
            int y = top + e / 8, i = from + e % 8;
            ta[e % 8][e / 8] = y < m && i < k ? a[y * k + i] : 0;
            int x = left + e % 64, j = from + e / 64;
            tb[e / 64][e % 64] = x < n && j < k ? b[j * n + x] : 0;
        }
        __syncthreads();
        for (int i = 0; i < 8; ++i) {
            float va[4], vb[4];
            for (int e = 0; e < 4; ++e) va[e] = ta[i][ty * 4 + e], vb[e] = tb[i][tx * 4 + e];
            for (int y = 0; y < 4; ++y)
                for (int x = 0; x < 4; ++x) sum[y][x] += va[y] * vb[x];
        }
        __syncthreads();
    }
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
            if (top + ty * 4 + y < m && left + tx * 4 + x < n) c[(top + ty * 4 + y) * n + left + tx * 4 + x] = sum[y][x];
}

extern "C" __global__ void two_buffers(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float ta[2][16][16], tb[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty, now = 0;
    auto fill = [&](int which, int from) {
        ta[which][ty][tx] = y < m && from + tx < k ? a[y * k + from + tx] : 0;
        tb[which][ty][tx] = x < n && from + ty < k ? b[(from + ty) * n + x] : 0;
    };
    float sum = 0;
    fill(0, 0);
    __syncthreads();
    for (int from = 0; from < k; from += 16) {
        if (from + 16 < k) fill(now ^ 1, from + 16);
        for (int i = 0; i < 16; ++i) sum += ta[now][ty][i] * tb[now][i][tx];
        __syncthreads();
        now ^= 1;
    }
    if (x < n && y < m) c[y * n + x] = sum;
}
