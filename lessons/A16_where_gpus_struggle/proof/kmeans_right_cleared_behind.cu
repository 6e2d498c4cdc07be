// The sums are cleared after the search, by another loop.
__global__ void kmeans(const int *px, const int *py, const int *cx, const int *cy, int *sums, int k) {
    __shared__ int own[48];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0, least = 0x7fffffff;
    for (int j = 0; j < k; ++j) {
        int dx = px[i] - cx[j], dy = py[i] - cy[j];
        int far = dx * dx + dy * dy;
        if (far < least) least = far, best = j;
    }
    for (int at = threadIdx.x; at < 48; at += blockDim.x) own[at] = 0;
    __syncthreads();
    atomicAdd(&own[3 * best + 0], px[i]);
    atomicAdd(&own[3 * best + 1], py[i]);
    atomicAdd(&own[3 * best + 2], 1);
    __syncthreads();
    if (threadIdx.x < 3 * k) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}
