// More values at a time than a thread has registers, as its launch bounds ask for many threads: there will be spills.
// arch: sm_80
// run timed: --grid 8 --block 1024 --arg in:f32[8192] --arg out:f32[8192] --arg i32:4 --check all --json -
// says: Register pressure: the kernel's values take
// says: registers at a time and a thread has 32, so the compiler keeps about
// says: "gain": null
__global__ void __launch_bounds__(1024, 2) polynomial(const float *x, float *out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float a[64];
#pragma unroll
    for (int k = 0; k < 64; ++k) a[k] = x[(t + k) % 8192];
    for (int i = 0; i < n; ++i)
#pragma unroll
        for (int k = 0; k < 64; ++k) a[k] = a[k] * a[(k + 1) % 64] + a[(k + 7) % 64];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; ++k) sum += a[k];
    out[t] = sum;
}
