// Memory that comes and goes in the order of a stream, from the device's pool and from one of the program's own.
#include <cstdint>
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int n = 1000;

__global__ void count(int* data, int from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = from + i;
}

int main() {
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    if (!supported) return printf("FAIL no pools\n"), 1;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    uint64_t threshold = UINT64_MAX, read = 0, used = 1, high = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    if (read != threshold) return printf("FAIL threshold\n"), 1;

    static int host[n];
    for (int k = 0; k < 4; ++k) {
        int* data;
        CHECK(cudaMallocAsync(&data, sizeof host, stream));
        CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
        if (used != sizeof host) return printf("FAIL %llu bytes used\n", (unsigned long long)used), 1;
        count<<<(n + 255) / 256, 256, 0, stream>>>(data, k * 100);
        CHECK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; ++i)
            if (host[i] != k * 100 + i) return printf("FAIL round %d: %d is %d\n", k, i, host[i]), 1;
    }
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    if (used != 0 || high != sizeof host) return printf("FAIL used %d, high %d\n", (int)used, (int)high), 1;

    cudaMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t own;
    CHECK(cudaMemPoolCreate(&own, &properties));
    int* data;
    CHECK(cudaMallocFromPoolAsync(&data, sizeof host, own, stream));
    CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
    if (used != sizeof host) return printf("FAIL own pool: %d\n", (int)used), 1;
    CHECK(cudaMemsetAsync(data, 0x11, sizeof host, stream));
    CHECK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    if (host[n - 1] != 0x11111111) return printf("FAIL fill\n"), 1;
    CHECK(cudaFree(data));
    CHECK(cudaMemPoolTrimTo(own, 0));
    CHECK(cudaMemPoolDestroy(own));
    if (cudaMemPoolDestroy(pool) == cudaSuccess) return printf("FAIL the device's pool was destroyed\n"), 1;
    CHECK(cudaDeviceGetMemPool(&own, 0));
    if (own != pool) return printf("FAIL the current pool\n"), 1;
    CHECK(cudaStreamDestroy(stream));
    printf("PASS\n");
}
