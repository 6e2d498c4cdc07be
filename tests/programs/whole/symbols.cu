// Constant memory and device variables by their symbols, static ones and those of a namespace too.
#include "check.h"

__constant__ float weights[16];
__device__ int counters[4] = {1, 2, 3, 4};
static __device__ double factor = 2.5;
namespace inner {
__constant__ int shift;
}

__global__ void apply(float* out) {
    out[threadIdx.x] = weights[threadIdx.x] * static_cast<float>(factor) + inner::shift;
    if (threadIdx.x < 4) counters[threadIdx.x] *= 10;
}

int main() {
    float host[16], out[16], *device;
    for (int i = 0; i < 16; ++i) host[i] = static_cast<float>(i);
    const int shift = 5;
    const double two = 2.0;
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    CHECK(cudaMemcpyToSymbol(inner::shift, &shift, sizeof shift, 0, cudaMemcpyHostToDevice));
    double before = 0;
    CHECK(cudaMemcpyFromSymbol(&before, factor, sizeof before));
    EXPECT(before == 2.5);
    CHECK(cudaMemcpyToSymbol(factor, &two, sizeof two));
    CHECK(cudaMalloc(&device, sizeof out));
    apply<<<1, 16>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; ++i) EXPECT(out[i] == 2.0f * i + 5.0f);
    int two_counters[2];
    CHECK(cudaMemcpyFromSymbol(two_counters, counters, sizeof two_counters, 2 * sizeof(int)));
    EXPECT(two_counters[0] == 30 && two_counters[1] == 40);
    void* address = nullptr;
    size_t bytes = 0;
    CHECK(cudaGetSymbolAddress(&address, counters));
    CHECK(cudaGetSymbolSize(&bytes, counters));
    EXPECT(bytes == sizeof(int) * 4);
    CHECK(cudaMemcpy(two_counters, address, sizeof two_counters, cudaMemcpyDeviceToHost));
    EXPECT(two_counters[0] == 10 && two_counters[1] == 20);
    CHECK(cudaFree(device));
    return pass();
}
