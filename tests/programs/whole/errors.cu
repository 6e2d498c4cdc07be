// All of it as an H200 with CUDA 13.0 does it.
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

    // Launches that are refused leave nothing behind but the error. (CUDA 12 said cudaErrorInvalidConfiguration.)
    cudaGetLastError();
    set<<<1, 2048>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    set<<<0, 32>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    set<<<dim3(1, 65536), 32>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    set<<<1, 32, 1 << 20>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(set, cudaFuncAttributeMaxDynamicSharedMemorySize, 100));
    set<<<1, 1, 4096>>>(data, 0);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(set, (cudaFuncAttribute)99, 1), cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(set, cudaFuncAttributePreferredSharedMemoryCarveout, 101), cudaErrorInvalidValue);
    cudaFuncAttributes of_a_function;
    EXPECT(cudaFuncGetAttributes(&of_a_function, (const void*)local), cudaErrorInvalidResourceHandle);
    EXPECT(cudaFuncGetAttributes(&of_a_function, (const void*)nullptr), cudaErrorInvalidDeviceFunction);
    int blocks = -1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, set, 2048, 0));
    if (blocks != 0) printf("FAIL %d blocks of 2048 threads\n", blocks), ++failures;
    CHECK(cudaDeviceSynchronize());
    set<<<1, 1, 0, cudaStreamPerThread>>>(data, 5);
    CHECK(cudaMemcpy(local, data, sizeof local, cudaMemcpyDeviceToHost));
    if (local[5] != 1) printf("FAIL set\n"), ++failures;

    // Flags, directions, symbols and limits.
    EXPECT(cudaStreamWaitEvent(0, second, 7), cudaErrorInvalidValue);
    EXPECT(cudaEventRecordWithFlags(second, 0, 9), cudaErrorInvalidValue);
    EXPECT(cudaStreamAddCallback(0, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1), cudaErrorInvalidValue);
    int priority = 9;
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
    CHECK(cudaStreamGetPriority(stream, &priority));
    if (priority != -5) printf("FAIL priority %d\n", priority), ++failures;
    CHECK(cudaMemcpy(data, data + 8, 4, cudaMemcpyHostToHost));  // addresses say what they are
    EXPECT(cudaMemcpyToSymbol(variable, local, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpyFromSymbol(local, variable, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyToSymbol(variable, data, 4, 0, cudaMemcpyHostToDevice));
    EXPECT(cudaMemcpy2D(data, 16, local, 8, 16, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(data, 16, local, 8, 16, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    EXPECT(cudaMemset2D(data, 16, 0, 17, 2), cudaErrorInvalidValue);
    CHECK(cudaGetSymbolAddress(&symbol, shared_variable));
    if (symbol != &shared_variable) printf("FAIL a managed variable lies elsewhere\n"), ++failures;
    EXPECT(cudaHostGetDevicePointer(&symbol, pinned, 1), cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync(data, 16, {cudaMemLocationTypeDevice, 0}, 0, 0), cudaErrorInvalidValue);
    EXPECT(cudaMemAdvise(data, 16, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}), cudaErrorInvalidValue);
    int value;
    EXPECT(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    EXPECT(cudaSetDeviceFlags(0x1000), cudaErrorInvalidValue);
    EXPECT(cudaDeviceSetCacheConfig((cudaFuncCache)9), cudaErrorInvalidValue);
    char bus[32];
    EXPECT(cudaDeviceGetPCIBusId(bus, 4, 0), cudaErrorInvalidValue);
    size_t limit = 0;
    EXPECT(cudaDeviceGetLimit(&limit, (cudaLimit)77), cudaErrorInvalidValue);
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    if (limit != 1008) printf("FAIL a stack of %zu bytes\n", limit), ++failures;

    // A host function may call nothing.
    cudaError_t inside = cudaSuccess;
    CHECK(cudaLaunchHostFunc(stream, [](void* error) { *(cudaError_t*)error = cudaStreamQuery(0); }, &inside));
    CHECK(cudaStreamSynchronize(stream));
    if (inside != cudaErrorNotPermitted) printf("FAIL in a host function: %s\n", cudaGetErrorName(inside)), ++failures;
    cudaGetLastError();

    // A kernel's fault stays, and is told once after each call that returns it.
    set<<<1, 1>>>(data, 1 << 28);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(cudaMalloc(&data, 4), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
#ifdef LOCKSTEP  // a real process has lost the device then: cudaErrorDevicesUnavailable
    CHECK(cudaDeviceReset());
    EXPECT(cudaGetLastError(), cudaSuccess);
    CHECK(cudaMalloc(&data, sizeof local));
    set<<<1, 1>>>(data, 1);
    CHECK(cudaMemcpy(local, data, sizeof local, cudaMemcpyDeviceToHost));
    if (local[1] != 1 || local[2] != 0) printf("FAIL after the reset\n"), ++failures;
    CHECK(cudaFree(data));
    EXPECT(cudaFree(data), cudaErrorInvalidValue);
#endif
    if (failures == 0) printf("PASS\n");
    return failures != 0;
}
