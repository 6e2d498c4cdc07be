// Two GPUs (LOCKSTEP_GPUS=2): copies between them, access to each other's memory, variables of their own.
#include <cstdio>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

const int n = 512;

__device__ int offset;

__global__ void fill(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x + offset; }
__global__ void add(int* to, const int* from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += from[i];
}

int main() {
    int count = 0, can = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count < 2) return printf("FAIL %d devices: this program wants two\n", count), 1;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) return printf("FAIL no access\n"), 1;
    CHECK(cudaDeviceCanAccessPeer(&can, 1, 1));
    if (can) return printf("FAIL a peer of itself\n"), 1;
    int* data[2];
    cudaStream_t streams[2];
    for (int device = 0; device < 2; ++device) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaStreamCreate(&streams[device]));
        CHECK(cudaMalloc(&data[device], n * sizeof(int)));
        int value = 1000 * (device + 1);
        CHECK(cudaMemcpyToSymbol(offset, &value, sizeof value));
        fill<<<n / 128, 128, 0, streams[device]>>>(data[device]);
        CHECK(cudaStreamSynchronize(streams[device]));
        cudaPointerAttributes attributes;
        CHECK(cudaPointerGetAttributes(&attributes, data[device]));
        if (attributes.device != device || attributes.type != cudaMemoryTypeDevice) return printf("FAIL attributes\n"), 1;
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    if (cudaDeviceEnablePeerAccess(1, 0) != cudaErrorPeerAccessAlreadyEnabled) return printf("FAIL enabled twice\n"), 1;
    cudaGetLastError();
    add<<<n / 128, 128>>>(data[0], data[1]);  // reads the other's memory
    CHECK(cudaDeviceSynchronize());
    int host[n];
    CHECK(cudaMemcpy(host, data[0], sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (host[i] != 2 * i + 3000) return printf("FAIL %d is %d\n", i, host[i]), 1;
    CHECK(cudaMemcpyPeerAsync(data[1], 1, data[0], 0, sizeof host, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
    CHECK(cudaSetDevice(1));
    CHECK(cudaMemcpy(host, data[1], sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (host[i] != 2 * i + 3000) return printf("FAIL copied: %d is %d\n", i, host[i]), 1;
    fill<<<1, 128, 0, streams[0]>>>(data[1]);  // a stream of the other device
    if (cudaGetLastError() != cudaErrorInvalidResourceHandle) return printf("FAIL the other device's stream\n"), 1;
    CHECK(cudaMemcpyPeer(data[0], 0, data[1], 1, 100));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceDisablePeerAccess(1));
    if (cudaDeviceDisablePeerAccess(1) != cudaErrorPeerAccessNotEnabled) return printf("FAIL disabled twice\n"), 1;
    if (cudaSetDevice(count) != cudaErrorInvalidDevice) return printf("FAIL a device too many\n"), 1;
    CHECK(cudaFree(data[0]));
    CHECK(cudaFree(data[1]));
    printf("PASS\n");
}
