// What calls return for bad arguments, what stays and what does not, and what is no error at all.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            ++failures;                                                                              \
        }                                                                                            \
    } while (0)

#define EXPECT(call, expected)                                                                                       \
    do {                                                                                                             \
        cudaError_t error = (call);                                                                                  \
        if (error != (expected)) {                                                                                   \
            printf("FAIL %s:%d %s: %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error),                \
                   cudaGetErrorName(expected));                                                                      \
            ++failures;                                                                                              \
        }                                                                                                            \
    } while (0)

static int failures = 0;

__device__ int variable[4];
__managed__ int shared_variable = 3;

__global__ void set(int* data, int at) { data[at] = 1; }

int main() {
    int *data = (int*)8, *managed, *pinned, local[16] = {1, 2, 3};
    CHECK(cudaFree(0));
    CHECK(cudaFreeHost(nullptr));
    CHECK(cudaMalloc(&data, 0));
    if (data) printf("FAIL nothing is somewhere\n"), ++failures;
    EXPECT(cudaMalloc((void**)nullptr, 4), cudaErrorInvalidValue);
    EXPECT(cudaMalloc(&data, (size_t)1 << 60), cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaSuccess);
    CHECK(cudaMalloc(&data, sizeof local));
    CHECK(cudaMallocManaged(&managed, sizeof local));
    CHECK(cudaMallocHost(&pinned, sizeof local));

    // Copies: managed and pinned memory go either way, and what is unknown is the host's.
    CHECK(cudaMemcpy(managed, local, sizeof local, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(data, managed, sizeof local, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(pinned, data, sizeof local, cudaMemcpyDefault));
    CHECK(cudaMemcpy(managed, pinned, sizeof local, cudaMemcpyHostToHost));
    if (managed[2] != 3 || pinned[1] != 2) printf("FAIL copies\n"), ++failures;
    CHECK(cudaMemcpy(data, local, 0, cudaMemcpyHostToDevice));
    EXPECT(cudaMemcpy(data, local, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpy(local, data, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(data, local, sizeof local + 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(nullptr, local, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemset(local, 0, 4), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(variable, local, 20), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol((const void*)local, local, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);

    // Pointers.
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, local));
    if (attributes.type != cudaMemoryTypeUnregistered || attributes.devicePointer) printf("FAIL a local\n"), ++failures;
    CHECK(cudaPointerGetAttributes(&attributes, data + 3));
    if (attributes.type != cudaMemoryTypeDevice || attributes.devicePointer != data + 3) printf("FAIL device\n"), ++failures;
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    if (attributes.type != cudaMemoryTypeManaged || attributes.hostPointer != managed) printf("FAIL managed\n"), ++failures;
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    if (attributes.type != cudaMemoryTypeHost) printf("FAIL pinned\n"), ++failures;
    void* symbol;
    CHECK(cudaGetSymbolAddress(&symbol, variable));
    CHECK(cudaPointerGetAttributes(&attributes, symbol));
    if (attributes.type != cudaMemoryTypeDevice) printf("FAIL a variable\n"), ++failures;
    CHECK(cudaPointerGetAttributes(&attributes, &shared_variable));
    if (attributes.type != cudaMemoryTypeManaged || shared_variable != 3) printf("FAIL a managed variable\n"), ++failures;
    EXPECT(cudaFree(pinned), cudaErrorInvalidValue);
    EXPECT(cudaFree(data + 1), cudaErrorInvalidValue);
    EXPECT(cudaFree(local), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(data), cudaErrorInvalidValue);
    CHECK(cudaFree(managed));
    CHECK(cudaMallocManaged(&managed, 0));

    // Devices, streams, events.
    cudaDeviceProp properties;
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT(cudaGetDeviceProperties(&properties, 99), cudaErrorInvalidDevice);
    cudaStream_t stream;
    EXPECT(cudaStreamCreateWithFlags(&stream, 0x80), cudaErrorInvalidValue);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamDestroy(stream));
    EXPECT(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    cudaEvent_t first, second;
    CHECK(cudaEventCreate(&first));
    CHECK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
    float milliseconds;
    EXPECT(cudaEventElapsedTime(&milliseconds, first, first), cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(first));
    CHECK(cudaEventRecord(second));
    CHECK(cudaEventSynchronize(second));
    EXPECT(cudaEventElapsedTime(&milliseconds, first, second), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventCreateWithFlags(&second, cudaEventInterprocess), cudaErrorInvalidValue);

    // Launches that are refused leave nothing behind but the error.
    cudaGetLastError();
    set<<<1, 2048>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    set<<<0, 32>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    set<<<1, 32, 1 << 20>>>(data, 0);
    if (cudaGetLastError() == cudaSuccess) printf("FAIL a megabyte of shared memory\n"), ++failures;
    CHECK(cudaDeviceSynchronize());
    set<<<1, 1, 0, cudaStreamPerThread>>>(data, 5);
    CHECK(cudaMemcpy(local, data, sizeof local, cudaMemcpyDeviceToHost));
    if (local[5] != 1) printf("FAIL set\n"), ++failures;

    // A kernel's fault stays until the device is reset.
    set<<<1, 1>>>(data, 1 << 20);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&data, 4), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset());
    EXPECT(cudaGetLastError(), cudaSuccess);
    CHECK(cudaMalloc(&data, sizeof local));
    set<<<1, 1>>>(data, 1);
    CHECK(cudaMemcpy(local, data, sizeof local, cudaMemcpyDeviceToHost));
    if (local[1] != 1 || local[2] != 0) printf("FAIL after the reset\n"), ++failures;
    CHECK(cudaFree(data));
    EXPECT(cudaFree(data), cudaErrorInvalidValue);
    if (failures == 0) printf("PASS\n");
    return failures != 0;
}
