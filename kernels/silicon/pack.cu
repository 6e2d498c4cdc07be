// Kernels that the engine has no use for, and that a GPU is judged on all the same: transposes, reductions, scans, sorts,
// stencils, a histogram, and one that finds out the SM's clock. Each is written the way a first course writes it. The
// launches are those of app/silicon/measure/pack.cpp: sizes are multiples of the block.

// noted[0], noted[1]: the SM's clock before and behind `rounds` of 16 dependent multiply-adds. Launch: one warp.
extern "C" __global__ void clock_rate(long long* noted, float* data, int rounds) {
    float x = data[0];
    const float a = data[1];
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) x = fmaf(x, a, a);
    }
    const long long end = clock64();
    if (threadIdx.x == 0) noted[0] = begin, noted[1] = end, data[2] = x;
}

// y[n,n] = x transposed. Launch: (n/32, n/32) blocks of (32, 8), four rows a thread.
extern "C" __global__ void transpose_plain(const float* x, float* y, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) y[column * n + row + i] = x[(row + i) * n + column];
}
template <int pitch>
__device__ void transpose_by_tile(const float* x, float* y, int n) {
    __shared__ float tile[32][pitch];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) y[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}
extern "C" __global__ void transpose_tile(const float* x, float* y, int n) { transpose_by_tile<32>(x, y, n); }
extern "C" __global__ void transpose_padded(const float* x, float* y, int n) { transpose_by_tile<33>(x, y, n); }

// y[block] = the sum of the block's elements of x[n]; all blocks stride over x. Launch: any number of blocks of 256.
extern "C" __global__ void reduce_tree(const float* x, float* y, int n) {
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
    sums[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}
extern "C" __global__ void reduce_shuffle(const float* x, float* y, int n) {
    __shared__ float sums[8];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(~0u, sum, apart);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < 8; ++i) sum += sums[i];
    y[blockIdx.x] = sum;
}

// y = running sums of each 256 elements of x. Launch: n/256 blocks of 256.
extern "C" __global__ void scan_shared(const float* x, float* y) {
    __shared__ float sums[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = x[i];
    for (int apart = 1; apart < 256; apart *= 2) {
        __syncthreads();
        const float other = t >= apart ? sums[t - apart] : 0;
        __syncthreads();
        sums[t] += other;
    }
    y[i] = sums[t];
}
extern "C" __global__ void scan_shuffle(const float* x, float* y) {
    __shared__ float sums[8];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 256 + t;
    float sum = x[i];
    for (int apart = 1; apart < 32; apart *= 2) {
        const float other = __shfl_up_sync(~0u, sum, apart);
        if (lane >= apart) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    for (int before = 0; before < warp; ++before) sum += sums[before];
    y[i] = sum;
}

// Bitonic sort of each 1024 integers in shared memory. Launch: n/1024 blocks of 512.
extern "C" __global__ void sort_blocks(int* x) {
    __shared__ int values[1024];
    int* const mine = x + blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += 512) values[i] = mine[i];
    for (int size = 2; size <= 1024; size *= 2)
        for (int apart = size / 2; apart > 0; apart /= 2) {
            __syncthreads();
            const int low = 2 * apart * (threadIdx.x / apart) + threadIdx.x % apart, high = low + apart;
            const int a = values[low], b = values[high];
            if ((a > b) == ((low & size) == 0)) values[low] = b, values[high] = a;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 512) mine[i] = values[i];
}
// One pass of a bitonic sort of all of x. Launch: n/2 threads.
extern "C" __global__ void sort_pass(int* x, int size, int apart) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int low = 2 * apart * (t / apart) + t % apart, high = low + apart;
    const int a = x[low], b = x[high];
    if ((a > b) == ((low & size) == 0)) x[low] = b, x[high] = a;
}

// y[i] = mean of x[i-3 .. i+3], what lies outside counts as 0. Launch: n/256 blocks of 256.
extern "C" __global__ void stencil_line(const float* x, float* y, int n) {
    __shared__ float near[256 + 6];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    near[t + 3] = x[i];
    if (t < 3) near[t] = i >= 3 ? x[i - 3] : 0;
    if (t >= 253) near[t + 6] = i + 3 < n ? x[i + 3] : 0;
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 7; ++j) sum += near[t + j];
    y[i] = sum / 7;
}
// One step of heat through a plane [n,n], its edge kept. Launch: (n/32, n/8) blocks of (32, 8).
extern "C" __global__ void stencil_plane(const float* x, float* y, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y, i = row * n + column;
    const bool edge = column == 0 || row == 0 || column == n - 1 || row == n - 1;
    y[i] = edge ? x[i] : 0.25f * (x[i - 1] + x[i + 1] + x[i - n] + x[i + n]);
}
// The same through a cube [n,n,n]. Launch: (n/32, n/8, n) blocks of (32, 8).
extern "C" __global__ void stencil_cube(const float* x, float* y, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y, plane = blockIdx.z;
    const int i = (plane * n + row) * n + column;
    const bool edge = column == 0 || row == 0 || plane == 0 || column == n - 1 || row == n - 1 || plane == n - 1;
    y[i] = edge ? x[i] : (x[i - 1] + x[i + 1] + x[i - n] + x[i + n] + x[i - n * n] + x[i + n * n]) / 6;
}

// bins[b] += how many of x[n] are b, of 256; counted in shared memory first. Launch: any number of blocks of 256.
extern "C" __global__ void histogram(const int* x, int* bins, int n) {
    __shared__ int counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&counts[x[i] & 255], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
