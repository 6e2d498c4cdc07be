// The point is read once, each warp has sums of its own, and the centres lie in shared memory: nobody waits for another warp.
__global__ void kmeans(const int *px, const int *py, const int *cx, const int *cy, int *sums, int k) {
    __shared__ int own[8][48];
    __shared__ int centre_x[16], centre_y[16];
    int t = threadIdx.x, warp = t / 32;
    int *mine = own[warp];
    mine[t % 32] = 0;
    if (t % 32 < 16) mine[32 + t % 32] = 0;
    if (t < k) centre_x[t] = cx[t], centre_y[t] = cy[t];
    int i = blockIdx.x * blockDim.x + t;
    int x = px[i], y = py[i];
    __syncthreads();
    int best = 0, least = 0x7fffffff;
    for (int j = 0; j < k; ++j) {
        int dx = x - centre_x[j], dy = y - centre_y[j];
        int far = dx * dx + dy * dy;
        if (far < least) least = far, best = j;
    }
    atomicAdd(&mine[3 * best + 0], x);
    atomicAdd(&mine[3 * best + 1], y);
    atomicAdd(&mine[3 * best + 2], 1);
    __syncthreads();
    if (t >= 3 * k) return;
    int all = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) all += own[w][t];
    atomicAdd(&sums[t], all);
}
