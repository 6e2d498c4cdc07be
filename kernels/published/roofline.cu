// A number of multiply-adds between the loads of two streams: from bound by memory to bound by arithmetic. Grid: blocks that fit at once, block 256; each thread reads `rounds` pairs of elements
template <class T, int steps> __device__ void climb(const T* a, const T* b, T* c, int rounds) {
    a += threadIdx.x + blockIdx.x * 256 * rounds;
    b += threadIdx.x + blockIdx.x * 256 * rounds;
    T sum = 0;
#pragma unroll 1
    for (int i = 0; i < rounds; i += 2) {
        const T a0 = a[i * 256], b0 = b[i * 256], a1 = a[(i + 1) * 256], b1 = b[(i + 1) * 256];
        T v0 = a0 - b0, v1 = a1 - b1;
#pragma unroll
        for (int step = 0; step < steps; ++step) {
            v0 = v0 * a0 - b0;
            v1 = v1 * a1 - b1;
        }
        sum += v0 + v1;
    }
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
}
#define CLIMB(TYPE, NAME, STEPS) extern "C" __global__ void NAME##_##STEPS(const TYPE* __restrict__ a, const TYPE* __restrict__ b, TYPE* c, int rounds) { climb<TYPE, STEPS>(a, b, c, rounds); }
CLIMB(float, climb_f32, 8)
CLIMB(float, climb_f32, 40)
CLIMB(float, climb_f32, 128)
CLIMB(double, climb_f64, 0)
CLIMB(double, climb_f64, 8)
CLIMB(double, climb_f64, 64)

// Chains of divisions and of square roots in double precision, one a warp. Grid 1, block 32 to 1024.
extern "C" __global__ void divide_f64(double start, double* a, int rounds) {
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        double t = start + threadIdx.x + round;
#pragma unroll
        for (int i = 0; i < 16; ++i) t = 0.1 / (t + 0.2);
        a[threadIdx.x + round] = t;
    }
}
extern "C" __global__ void root_f64(double start, double* a, int rounds) {
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        double t = start + threadIdx.x + round;
#pragma unroll
        for (int i = 0; i < 16; ++i) t = sqrt(t + 0.2);
        a[threadIdx.x + round] = t;
    }
}
