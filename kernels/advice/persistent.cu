// Persistent kernels: their blocks stay and take one tile after another, by steps of the grid or from a counter.
// advice_test.cpp launches them with too few and too many blocks, and with tiles that do not go evenly into them.

__global__ void tiles_by_stride(const float *x, float *y, int tiles, int rounds) {
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int i = tile * blockDim.x + threadIdx.x;
        float v = x[i];
        for (int k = 0; k < rounds; ++k) v = v * 0.5f + 1.0f;
        y[i] = v;
    }
}
__global__ void elements_by_stride(const float *x, float *y, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = 2 * x[i];
}

// One tile has sixteen times as much to do as the others; it is taken last, and in the other kernel first.
__device__ void do_tile(const float *x, float *y, int tile, bool large, int rounds) {
    int i = tile * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < (large ? 16 * rounds : rounds); ++k) v = v * 0.5f + 1.0f;
    y[i] = v;
}
__global__ void large_tile_last(const float *x, float *y, int tiles, int rounds, int *next) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        if (tile >= tiles) return;
        do_tile(x, y, tile, tile == tiles - 1, rounds);
        __syncthreads();
    }
}
__global__ void large_tile_first(const float *x, float *y, int tiles, int rounds, int *next) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        if (tile >= tiles) return;
        do_tile(x, y, tile, tile == 0, rounds);
        __syncthreads();
    }
}

// One piece for each block: first + step * blockIdx.x rounds.
__global__ void growing_blocks(const float *x, float *y, int first, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < first + step * (int)blockIdx.x; ++k) v = v * 0.5f + 1.0f;
    y[i] = v;
}

// Not persistent, though each has an addition in a loop, or an atomic: sums along a row, and places in a list.
__global__ void sums(const float *x, float *y, int columns) {
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[blockIdx.x * columns + c];
    atomicAdd(&y[blockIdx.x], sum);
}
__global__ void places(const float *x, float *y, int *count, int each) {
    for (int k = 0; k < each; ++k) {
        float v = x[(blockIdx.x * blockDim.x + threadIdx.x) * each + k];
        if (v > 0.5f) y[atomicAdd(count, 1)] = v;
    }
}
