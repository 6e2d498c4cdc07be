// Prefix sums: within a block (Hillis and Steele, two buffers), and over the whole array in one pass, where each block waits
// for the one before it (decoupled look-back; the ticket makes sure that the one before has started).
extern "C" __global__ void scan_block(const int* in, int* out, int n) {
    extern __shared__ int both[];
    int t = threadIdx.x, from = 0;
    both[t] = t < n ? in[t] : 0;
    for (int by = 1; by < blockDim.x; by *= 2) {
        __syncthreads();
        int* now = both + (from ^ 1) * blockDim.x;
        const int* was = both + from * blockDim.x;
        now[t] = was[t] + (t >= by ? was[t - by] : 0);
        from ^= 1;
    }
    if (t < n) out[t] = both[from * blockDim.x + t];
}

__device__ unsigned next_block;

extern "C" __global__ void scan_look_back(const int* in, int* out, volatile int* flags, volatile int* totals, int n) {
    __shared__ int sums[8];
    __shared__ unsigned block;
    __shared__ int before;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) block = atomicAdd(&next_block, 1u);
    __syncthreads();
    int i = block * blockDim.x + t, value = i < n ? in[i] : 0;
    for (int by = 1; by < 32; by *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, by);
        if (lane >= by) value += other;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; ++w) value += sums[w];
    if (t == blockDim.x - 1) {
        int so_far = 0;
        if (block > 0) {
            while (flags[block - 1] == 0) {
            }
            __threadfence();
            so_far = totals[block - 1];
        }
        totals[block] = so_far + value;
        __threadfence();
        flags[block] = 1;
        before = so_far;
        if (block == gridDim.x - 1) next_block = 0;
    }
    __syncthreads();
    if (i < n) out[i] = before + value;
}
