// A histogram by atomics in shared and in global memory, and the other atomics.
#include <vector>

#include "check.h"

__global__ void histogram(const unsigned char* in, int n, unsigned* bins) {
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(bins + b, own[b]);
}

__global__ void others(int* out, unsigned long long* wide, float* real) {
    const int i = threadIdx.x;
    atomicMax(out, i);
    atomicMin(out + 1, -i);
    atomicOr(out + 2, 1 << i % 8);
    atomicXor(out + 3, i);
    atomicSub(out + 4, 2);
    atomicInc(reinterpret_cast<unsigned*>(out) + 5, 9u);
    atomicAdd(wide, 1ull << 33);
    atomicAdd(real, 0.5f);
    int seen = out[6];  // a maximum by hand
    for (int before; seen < 3 * i; seen = before)
        if ((before = atomicCAS(out + 6, seen, 3 * i)) == seen) break;
    if (i == 0) atomicExch(out + 7, 99);
}

int main() {
    const int n = 10000;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> expected(256), bins(256);
    for (int i = 0; i < n; ++i) ++expected[in[i] = static_cast<unsigned char>(i * 2654435761u >> 24)];
    unsigned char* d_in;
    unsigned* d_bins;
    CHECK(cudaMalloc(&d_in, n));
    CHECK(cudaMalloc(&d_bins, 256 * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_in, in.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_bins, 0, 256 * sizeof(unsigned)));
    histogram<<<4, 128>>>(d_in, n, d_bins);
    CHECK(cudaMemcpy(bins.data(), d_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
    EXPECT(bins == expected);

    int *d_out, out[8];
    unsigned long long *d_wide, wide;
    float *d_real, real;
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_wide, sizeof wide));
    CHECK(cudaMalloc(&d_real, sizeof real));
    CHECK(cudaMemset(d_out, 0, sizeof out));
    CHECK(cudaMemset(d_wide, 0, sizeof wide));
    CHECK(cudaMemset(d_real, 0, sizeof real));
    others<<<1, 64>>>(d_out, d_wide, d_real);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&wide, d_wide, sizeof wide, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&real, d_real, sizeof real, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 63 && out[1] == -63 && out[2] == 255 && out[3] == 0 && out[4] == -128);
    EXPECT(out[5] == 4 && out[6] == 189 && out[7] == 99);
    EXPECT(wide == 64ull << 33 && real == 32.0f);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_bins));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_wide));
    CHECK(cudaFree(d_real));
    return pass();
}
