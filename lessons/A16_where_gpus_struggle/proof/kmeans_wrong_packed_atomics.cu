// fails: global_atomic_requests
__global__ void kmeans(const int *px, const int *py, const int *cx, const int *cy, int *sums, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0, least = 0x7fffffff;
    for (int j = 0; j < k; ++j) {
        int dx = px[i] - cx[j], dy = py[i] - cy[j];
        int far = dx * dx + dy * dy;
        if (far < least) least = far, best = j;
    }
    if (k > 0) {
        atomicAdd(&sums[3 * best + 2], 1);
        atomicAdd(&sums[3 * best + 0], px[i]);
        atomicAdd(&sums[3 * best + 1], py[i]);
    }
}
