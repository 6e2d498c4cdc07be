// Prefix sums of ints in three launches: each tile of 512 on its own, in shared memory or by shuffles, and the tiles' sums added to them. Grid (n / 512), block 512
constexpr int tile = 512;

extern "C" __global__ void scan_tiles_shared(const int* __restrict__ in, int* __restrict__ out, int n, int* totals) {
    __shared__ int cache[2][tile];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int to = 0;
    cache[to][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int apart = 1; apart < tile; apart *= 2) {
        to = 1 - to;
        const int from = 1 - to;
        cache[to][t] = t >= apart ? cache[from][t - apart] + cache[from][t] : cache[from][t];
        __syncthreads();
    }
    if (i < n) out[i] = cache[to][t];
    if (t == tile - 1 && totals != nullptr) totals[blockIdx.x] = cache[to][tile - 1];
}

__device__ int warp_scan(int v) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        const int before = __shfl_up_sync(~0u, v, apart);
        if (lane >= apart) v += before;
    }
    return v;
}
extern "C" __global__ void scan_tiles_shuffles(const int* __restrict__ in, int* __restrict__ out, int n, int* totals) {
    __shared__ int parts[tile / 32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int own = warp_scan(i < n ? in[i] : 0);
    if (lane == 31) parts[warp] = own;
    __syncthreads();
    if (warp == 0) {
        const int sums = warp_scan(lane < tile / 32 ? parts[lane] : 0);
        if (lane < tile / 32) parts[lane] = sums;
    }
    __syncthreads();
    const int all = own + (warp > 0 ? parts[warp - 1] : 0);
    if (i < n) out[i] = all;
    if (threadIdx.x == tile - 1 && totals != nullptr) totals[blockIdx.x] = all;
}

extern "C" __global__ void add_totals(const int* __restrict__ in, int* out, int n, const int* totals) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += totals[blockIdx.x - 1];
}
