// Streams, events and pinned memory: copies and kernels in two streams, one waits for the other's event, a callback at the end.
#include "check.h"

__global__ void scale(int* data, int n, int factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}

static void CUDART_CB count_up(void* data) { ++*static_cast<int*>(data); }

int main() {
    const int n = 2048, half = n / 2;
    int *pinned, *device, calls = 0;
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; ++i) pinned[i] = i;
    cudaStream_t streams[2];
    cudaEvent_t begin, end, first;
    for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
    CHECK(cudaEventRecord(begin));
    for (int s = 0; s < 2; ++s) {
        int* const part = device + s * half;
        CHECK(cudaMemcpyAsync(part, pinned + s * half, half * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        scale<<<half / 256, 256, 0, streams[s]>>>(part, half, 3);
        CHECK(cudaMemcpyAsync(pinned + s * half, part, half * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
    }
    CHECK(cudaEventRecord(first, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], first, 0));
    CHECK(cudaLaunchHostFunc(streams[1], count_up, &calls));
    CHECK(cudaStreamSynchronize(streams[1]));
    CHECK(cudaStreamSynchronize(streams[0]));
    CHECK(cudaEventRecord(end, 0));
    CHECK(cudaEventSynchronize(end));
    EXPECT(cudaEventQuery(end) == cudaSuccess && cudaStreamQuery(streams[0]) == cudaSuccess);
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms > 0 && calls == 1);
    for (int i = 0; i < n; ++i) EXPECT(pinned[i] == 3 * i);
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaEventDestroy(first));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return pass();
}
