// A stream that does not block leaves the default stream alone; any other stream and the default stream wait for each other.
#include <cstdio>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));     \
            return 1;                                                                                \
        }                                                                                            \
    } while (0)

__global__ void work(float* data, int rounds) {
    float x = threadIdx.x;
    for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1;
    data[threadIdx.x] = x;
}

// Milliseconds from before to after a short kernel in the default stream, while a long one is in a stream with these flags.
float behind(unsigned flags, float* data) {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float milliseconds = -1;
    cudaStreamCreateWithFlags(&stream, flags);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    work<<<1, 32, 0, stream>>>(data, 20000);
    work<<<1, 64>>>(data + 32, 100);  // of another shape, so that each has a time of its own
    cudaEventRecord(end);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
    return cudaGetLastError() == cudaSuccess ? milliseconds : -1;
}

int main() {
    float* data;
    CHECK(cudaMalloc(&data, 96 * sizeof(float)));
    float waits = behind(cudaStreamDefault, data), apart = behind(cudaStreamNonBlocking, data);
    if (waits <= 0 || apart <= 0) return printf("FAIL %f and %f ms\n", waits, apart), 1;
    if (apart * 4 > waits) return printf("FAIL it waited: %f ms, and %f ms apart\n", waits, apart), 1;
    CHECK(cudaFree(data));
    printf("PASS\n");
}
