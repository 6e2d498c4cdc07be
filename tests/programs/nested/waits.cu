// Kernels that wait for the kernels that they launched, as CUDA allowed it up to compute capability 8.x.
#include <vector>

#include "../whole/check.h"

__global__ void square(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }

__global__ void sum(const int* in, int n, int* out) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += in[i];
    *out = total;
}

__global__ void parent(const int* in, int n, int* squares, int* out) {
    __shared__ int seen;
    if (threadIdx.x == 0) {
        square<<<1, n>>>(in, squares);
        cudaDeviceSynchronize();
        sum<<<1, 1>>>(squares, n, out);
        cudaDeviceSynchronize();
        seen = *out;
    }
    __syncthreads();
    if (threadIdx.x == 1) out[1] = 2 * seen;
}

// Sums a range by halves, each a kernel.
__global__ void halves(int* data, int n) {
    if (n == 1) return;
    halves<<<1, 1>>>(data, n / 2);
    halves<<<1, 1>>>(data + n / 2, n - n / 2);
    cudaDeviceSynchronize();
    data[0] += data[n / 2];
}

int main() {
    const int n = 64;
    std::vector<int> h(n);
    for (int i = 0; i < n; ++i) h[i] = i;
    int *d_in, *d_squares, *d_out, out[2];
    CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CHECK(cudaMalloc(&d_squares, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 8));
    parent<<<1, 32>>>(d_in, n, d_squares, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 63 * 64 * 127 / 6 && out[1] == 2 * out[0]);
    halves<<<1, 1>>>(d_in, n);
    CHECK(cudaMemcpy(out, d_in, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 63 * 64 / 2);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_squares));
    CHECK(cudaFree(d_out));
    return pass();
}
