// A sum by templates over type and block size: static and dynamic shared memory, shuffles, an atomic at the end.
#include <numeric>
#include <vector>

#include "check.h"

template <typename T, int Threads>
__global__ void __launch_bounds__(Threads) sum_static(const T* in, T* out, int n) {
    __shared__ T part[Threads];
    T value = 0;
    for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) value += in[i];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int step = Threads / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

template <typename T>
__global__ void sum_dynamic(const T* in, T* out, int n) {
    extern __shared__ unsigned char bytes[];
    T* const part = reinterpret_cast<T*>(bytes);
    T value = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += in[i];
    for (int by = warpSize / 2; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
    if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / warpSize; ++w) value += part[w];
        atomicAdd(out, value);
    }
}

template <typename T>
void check_sums() {
    const int n = 5000;
    std::vector<T> in(n);
    for (int i = 0; i < n; ++i) in[i] = static_cast<T>(i % 7);
    const T expected = std::accumulate(in.begin(), in.end(), T(0));
    T *d_in, *d_out, out[2];
    CHECK(cudaMalloc(&d_in, n * sizeof(T)));
    CHECK(cudaMalloc(&d_out, 2 * sizeof(T)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, 2 * sizeof(T)));
    sum_static<T, 128><<<4, 128>>>(d_in, d_out, n);
    sum_dynamic<T><<<dim3(4), dim3(128), 4 * sizeof(T)>>>(d_in, d_out + 1, n);
    CHECK(cudaMemcpy(out, d_out, 2 * sizeof(T), cudaMemcpyDeviceToHost));
    EXPECT(out[0] == expected && out[1] == expected);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
}

int main() {
    check_sums<int>();
    check_sums<float>();
    check_sums<double>();
    check_sums<unsigned long long>();
    return pass();
}
