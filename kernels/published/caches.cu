// Reads that caches serve: strides within L1, one buffer read by every block, and tiles that blocks share in L2
//
// `zero` is 0 and unknown to the compiler, which therefore loads again in each round.

// Lane n reads words n * stride + 0, 4, ... 28 of the buffer, eight loads a round. Grid 1, block 1024.
template <class T> __device__ void strided(const T* a, T* b, int zero, int stride, int rounds) {
    const T* from = a + threadIdx.x % 64 * stride;
    T sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        from += zero;
        sum += from[0] * from[4];
        sum += from[8] * from[12];
        sum += from[20] * from[16];
        sum += from[24] * from[28];
    }
    if (sum == T(123123.23)) b[threadIdx.x] = sum;
}
extern "C" __global__ __launch_bounds__(1024) void strided_f32(const float* a, float* b, int zero, int stride, int rounds) { strided(a, b, zero, stride, rounds); }
extern "C" __global__ __launch_bounds__(1024) void strided_f64(const double* a, double* b, int zero, int stride, int rounds) { strided(a, b, zero, stride, rounds); }

// The same of a block of width x 1024 / width threads over rows that lie `pitch` words apart.
extern "C" __global__ __launch_bounds__(1024) void rows_f32(const float* a, float* b, int zero, int pitch, int rounds) {
    const float* from = a + threadIdx.x % 64 + threadIdx.y % 32 * pitch + pitch;
    float sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        from += zero;
        sum += from[0] * from[4];
        sum += from[8] * from[12];
        sum += from[20] * from[16];
        sum += from[24] * from[28];
    }
    if (sum == 123123.23f) b[threadIdx.x] = sum;
}

// Every block reads the same n words, again and again. One block of 256 an SM; n a multiple of 8192.
extern "C" __global__ void read_shared_buffer(float* __restrict__ a, const float* __restrict__ b, int zero, int n, int rounds) {
    b += threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        b += zero;
#pragma unroll 1
        for (int i = 0; i < n; i += 32 * 256) {
#pragma unroll
            for (int j = 0; j < 32; ++j) sum += b[i + j * 256];
        }
        sum *= 1.3f;
    }
    if (sum == 1233) a[threadIdx.x] += sum;
}

// Block k reads tile k % tiles of 512 KB, in pairs of 8 KB that lie apart: the tiles together are what L2 holds. Block 1024.
extern "C" __global__ void read_tiles(double* __restrict__ a, const double* __restrict__ b, int tiles, int zero) {
    double sum = 0;
    for (int i = 0; i < 32; ++i) {
        const int at = (1024 * tiles * i + blockIdx.x % tiles * 1024) * 2 + threadIdx.x;
        sum += b[at] * b[at + 1024];
    }
    sum *= 1.3;
    if (zero || sum == 23.12) a[threadIdx.x] += sum;
}
