// One array a sum, and the points in registers.
__global__ void kmeans(const int *px, const int *py, const int *cx, const int *cy, int *sums, int k) {
    __shared__ int xs[16], ys[16], ones[16];
    if (threadIdx.x < 16) xs[threadIdx.x] = ys[threadIdx.x] = ones[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = px[i], y = py[i];
    int best = 0, least = 0x7fffffff;
    for (int j = 0; j < k; ++j) {
        int dx = x - cx[j], dy = y - cy[j], far = dx * dx + dy * dy;
        if (far < least) least = far, best = j;
    }
    atomicAdd(&xs[best], x);
    atomicAdd(&ys[best], y);
    atomicAdd(&ones[best], 1);
    __syncthreads();
    if (threadIdx.x >= k) return;
    atomicAdd(&sums[3 * threadIdx.x + 0], xs[threadIdx.x]);
    atomicAdd(&sums[3 * threadIdx.x + 1], ys[threadIdx.x]);
    atomicAdd(&sums[3 * threadIdx.x + 2], ones[threadIdx.x]);
}
