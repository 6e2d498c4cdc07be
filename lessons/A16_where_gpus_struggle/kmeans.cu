// Each point finds its nearest centre and is added to the
// sums of that centre: of x, of y, and of ones.
__global__ void kmeans(const int *px, const int *py, const int *cx, const int *cy, int *sums, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0, least = 0x7fffffff;
    for (int j = 0; j < k; ++j) {
        int dx = px[i] - cx[j], dy = py[i] - cy[j];
        int far = dx * dx + dy * dy;
        if (far < least) least = far, best = j;
    }
    atomicAdd(&sums[3 * best + 0], px[i]);
    atomicAdd(&sums[3 * best + 1], py[i]);
    atomicAdd(&sums[3 * best + 2], 1);
}
