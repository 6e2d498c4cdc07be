// Kernels that take a function: lambdas of the device and of both sides, function objects with methods.
#include <functional>
#include <vector>

#include "check.h"

template <typename Function>
__global__ void for_each(int n, Function function) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) function(i);
}

class Polynomial {
  public:
    __host__ __device__ Polynomial(float a, float b, float c) : a_(a), b_(b), c_(c) {}
    __host__ __device__ float operator()(float x) const { return fmaf(fmaf(a_, x, b_), x, c_); }
    __host__ __device__ Polynomial derived() const { return {0.0f, 2.0f * a_, b_}; }

  private:
    float a_, b_, c_;
};

constexpr int twice(int a) { return 2 * a; }

int main() {
    const int n = 500;
    float *d, offset = 4.0f;
    CHECK(cudaMalloc(&d, n * sizeof(float)));
    for_each<<<2, 64>>>(n, [=] __device__(int i) { d[i] = i + offset; });
    const Polynomial p(1.0f, 2.0f, 3.0f);
    for_each<<<2, 64>>>(n, [=] __device__(int i) { d[i] = p(d[i]) + p.derived()(1.0f) + twice(i); });
    const auto both = [] __host__ __device__(int i) { return i * 0.5f; };
    for_each<<<2, 64>>>(n, [=] __device__(int i) { d[i] += both(i); });
    std::vector<float> h(n);
    CHECK(cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EXPECT(h[i] == p(i + offset) + 4.0f + twice(i) + both(i));
    CHECK(cudaFree(d));
    return pass();
}
