// Kernels of tests/simt/execute/ptx_test.cpp; machine.ptx is what `nvcc -ptx -lineinfo -arch=sm_75` makes of this file.
extern "C" __global__ void reverse_block(const int* in, int* out, int n) {
    __shared__ int tile[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : -1;
    __syncthreads();
    if (i < n) out[i] = tile[blockDim.x - 1 - t];
}
extern "C" __global__ void histogram(const unsigned char* text, unsigned* bins, int n) {
    __shared__ unsigned local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[text[i] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
extern "C" __global__ void sum_warps(const float* x, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) sums[i / 32] = v;
}
extern "C" __global__ void choose(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], steps = 0;
    while (v != 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        ++steps;
    }
    int r;
    switch (x[i] % 5) {
        case 0: r = steps; break;
        case 1: r = -steps; break;
        case 2: r = steps * steps; break;
        case 3: if (steps > 10) { y[i] = 1000; return; } r = 3; break;
        default: r = 7;
    }
    y[i] = r;
}
extern "C" __global__ void off_by_one(float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) c[i] = 1.0f;
}
extern "C" __global__ void half_barrier(int* x) {
    if (threadIdx.x < 16) {
        x[threadIdx.x] = 1;
        __syncthreads();
    }
    x[threadIdx.x] += 1;
}
extern "C" __global__ void spin(volatile int* flag) {
    while (*flag == 0) {
    }
    flag[1] = 1;
}
