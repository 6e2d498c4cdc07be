// Streams of doubles, one element a thread, behind the guard that their source has: filling, reading, scaling, a triad and two stencils. Grid (n / threads + 1), block 32 to 1024; shared memory keeps all but two blocks off an SM where the launch asks for it
//
// `hidden` is 0 and unknown to the compiler: what stands behind it keeps loads alive and is never run.

#define STREAM(NAME) extern "C" __global__ void NAME(double* a, const double* __restrict__ b, const double* __restrict__ c, int n, int hidden)

STREAM(stream_fill) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    a[i] = 0.23;
}

STREAM(stream_read) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const double value = b[i];
    if (hidden || value == 123.0) a[i] = value;
}

STREAM(stream_scale) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    a[i] = b[i] * 1.2;
}

STREAM(stream_triad) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    a[i] = b[i] * 1.2 + c[i];
}

STREAM(stencil_3) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n - 1 || i == 0) return;
    a[i] = 0.5 * b[i - 1] - b[i] + 0.5 * b[i + 1];
}

STREAM(stencil_5) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n - 2 || i < 2) return;
    a[i] = 0.25 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.5 * b[i + 1] + 0.5 * b[i + 2];
}

// A kernel that is queued again and again on a small array: what its start costs is most of its time.
extern "C" __global__ void small_scale(double* __restrict__ a, const double* __restrict__ b, int n) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    a[i] = b[i] * 0.25;
}
